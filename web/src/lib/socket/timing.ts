/** How long to wait before trying again, and what time it is at the server. */

const FIRST_MS = 500
const LONGEST_MS = 15_000

/** Half a second for the first try, twice as long for each further one; spread, so that not all come back at once. */
export function pause(tries: number): number {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(tries, 10))
  return most * (0.5 + Math.random() / 2)
}

const SAMPLES = 8
const JUMP_MS = 2_000

/**
 * The server's clock, told by its beats. A message is late by its way, never early, so the largest difference among the
 * last few is the nearest; a jump means that this machine's own clock was set.
 */
export class ServerTime {
  #differences: number[] = []

  heard(now: number): void {
    const difference = now - Date.now()
    if (this.offset - difference > JUMP_MS) this.#differences = []
    this.#differences = [...this.#differences.slice(1 - SAMPLES), difference]
  }

  /** Milliseconds to add to this machine's time. */
  get offset(): number {
    return this.#differences.length ? Math.max(...this.#differences) : 0
  }
}
