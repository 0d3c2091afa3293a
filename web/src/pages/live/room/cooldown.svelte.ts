/** Seconds that somebody has to wait before the next comment, counted down. */

export class Wait {
  left = $state(0)
  #timer: ReturnType<typeof setInterval> | undefined

  start(seconds: number): void {
    this.stop()
    // By the clock and not by counting: a phone that slept has waited, too.
    const end = Date.now() + seconds * 1000
    const step = (): void => {
      this.left = Math.max(0, Math.ceil((end - Date.now()) / 1000))
      if (this.left === 0) clearInterval(this.#timer)
    }
    this.#timer = setInterval(step, 250)
    step()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.left = 0
  }
}
