/** Reactive state of a request: its value, its error, and reloading. */

import { isUnreachable, whenReachable } from './reachable'

export class Resource<T> {
  /** The last value; it stays readable while a newer one is loaded or fails to load. */
  value = $state.raw<T>()
  error = $state.raw<unknown>(null)
  busy = $state(false)
  #running: AbortController | undefined

  constructor(readonly fetch: (signal: AbortSignal) => Promise<T>) {}

  /** Load the value, aborting an earlier request that is still running. Without a connection it is loaded once there is one. */
  async load(): Promise<void> {
    this.#running?.abort()
    const running = (this.#running = new AbortController())
    this.busy = true
    try {
      const value = await this.fetch(running.signal)
      if (running !== this.#running) return
      this.value = value
      this.error = null
    } catch (error) {
      if (running !== this.#running || running.signal.aborted) return
      this.error = error
      if (isUnreachable(error)) void whenReachable().then(() => (running === this.#running ? this.load() : undefined))
    }
    this.busy = false
  }

  stop(): void {
    this.#running?.abort()
    this.#running = undefined
  }
}

/** Call `act` now and at an interval while the page is visible. Returns a function that stops it. */
export function poll(seconds: number, act: () => void): () => void {
  const actIfVisible = (): void => {
    if (document.visibilityState === 'visible') act()
  }
  act()
  const timer = setInterval(actIfVisible, seconds * 1000)
  document.addEventListener('visibilitychange', actIfVisible)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', actIfVisible)
  }
}
