/** Something that a page asked the server for: what came, what went wrong, and asking again. */

export class Asked<T> {
  /** The last answer; it stays readable while a newer one is on its way or does not come. */
  value = $state.raw<T>()
  error = $state.raw<unknown>(null)
  busy = $state(false)
  #running: AbortController | undefined

  constructor(readonly ask: (signal: AbortSignal) => Promise<T>) {}

  /** Ask. An earlier question that is still open is dropped. */
  async load(): Promise<void> {
    this.#running?.abort()
    const running = (this.#running = new AbortController())
    this.busy = true
    try {
      const value = await this.ask(running.signal)
      if (running !== this.#running) return
      this.value = value
      this.error = null
    } catch (error) {
      if (running !== this.#running || running.signal.aborted) return
      this.error = error
    }
    this.busy = false
  }

  /** Nobody waits for it any more. */
  stop(): void {
    this.#running?.abort()
    this.#running = undefined
  }
}
