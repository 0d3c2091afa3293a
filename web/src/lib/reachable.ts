/** Waits for a server that cannot be reached, so that a page opened without a connection recovers by itself. */

import { ApiError } from './api'
import { retryDelay } from './socket/transport'

const RELOADED_AT = 'zataku.reloadedAt'
const RELOAD_EVERY_MS = 30_000
/** The server is down, or a proxy in front of it says so. */
const UNREACHABLE_STATUSES = [0, 502, 504]

let waiting: Promise<void> | undefined

export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && UNREACHABLE_STATUSES.includes(error.status)
}

/**
 * Resolves when the server answers. It is asked as soon as the browser is online again or the page is shown, and after growing
 * delays otherwise. All callers wait together.
 */
export function whenReachable(): Promise<void> {
  waiting ??= waitForAnswer().finally(() => (waiting = undefined))
  return waiting
}

export async function isServerUp(): Promise<boolean> {
  return fetch('/healthz', { cache: 'no-store' }).then((answer) => answer.ok, () => false)
}

/**
 * Load the document again once the server answers: a browser does not repeat the import of a module that failed. False when that
 * has just been done, so that a module that is missing on the server does not reload the page for ever.
 */
export async function reloadWhenReachable(): Promise<boolean> {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED_AT) ?? 0) < RELOAD_EVERY_MS) return false
  await whenReachable()
  sessionStorage.setItem(RELOADED_AT, String(Date.now()))
  location.reload()
  return true
}

async function waitForAnswer(): Promise<void> {
  for (let attempts = 0; ; attempts++) {
    await delayOrWake(retryDelay(attempts))
    if (await isServerUp()) return
  }
}

function delayOrWake(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const listening = new AbortController()
    const wake = (): void => {
      clearTimeout(timer)
      listening.abort()
      resolve()
    }
    const timer = setTimeout(wake, ms)
    addEventListener('online', wake, { signal: listening.signal })
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && wake(), { signal: listening.signal })
  })
}
