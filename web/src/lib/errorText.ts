/** Errors as sentences in the reader's language. */

import { ApiError } from './api'
import { has, t } from './texts.svelte'

interface CodedError {
  code: string
  message: string
  details?: Record<string, unknown>
}

/** The sentence for an error. A code without a translation shows the server's own message. */
export function errorText(error: unknown): string {
  if (!isCoded(error)) return t('errors.unexpected')
  const key = `errors.${error.code}`
  if (!has(key)) return error.message || t('errors.unexpected')
  return t(key, { n: retrySeconds(error) })
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** The code of an error of the server or of the connection; null for any other error. */
export function errorCode(error: unknown): string | null {
  return isCoded(error) ? error.code : null
}

/** Seconds to wait before a retry; 1 where the server names none. */
export function retrySeconds(error: unknown): number {
  const wait = error instanceof ApiError ? error.retryAfter : isCoded(error) ? Number(error.details?.retry_after) : NaN
  return Math.max(1, Math.ceil(wait || 1))
}

function isCoded(error: unknown): error is CodedError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}
