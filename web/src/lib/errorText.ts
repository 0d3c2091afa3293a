/** What went wrong, in the reader's language. */

import { ApiError } from './api'
import { has, t } from './texts.svelte'

interface Coded {
  code: string
  message: string
  details?: Record<string, unknown>
}

/** A sentence that says what to do. What the pages have no words for is said in the server's own. */
export function said(error: unknown): string {
  if (!isCoded(error)) return t('errors.unexpected')
  const key = `errors.${error.code}`
  if (!has(key)) return error.message || t('errors.unexpected')
  return t(key, { n: secondsOf(error) })
}

/** True when somebody looked for what is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** The code of what the server refused, or none. */
export function codeOf(error: unknown): string | null {
  return isCoded(error) ? error.code : null
}

/** How many seconds to wait before trying again; one where nobody says. */
export function secondsOf(error: unknown): number {
  const wait = error instanceof ApiError ? error.retryAfter : isCoded(error) ? Number(error.details?.retry_after) : NaN
  return Math.max(1, Math.ceil(wait || 1))
}

function isCoded(error: unknown): error is Coded {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}
