/** Applause: when enough people clap within a moment, it happens once, until it has died down. */

const ENOUGH = 20
const MOMENT_MS = 3_000
/** Below this the applause is over, and another can begin. */
const QUIET = 10

export class Burst {
  #claps: { at: number; count: number }[] = []
  #going = false

  /** So many clap now. True when that makes it an applause. */
  heard(count: number, now: number): boolean {
    this.#claps = this.#claps.filter((clap) => clap.at > now - MOMENT_MS)
    if (this.#sum < QUIET) this.#going = false
    this.#claps.push({ at: now, count })
    if (this.#going || this.#sum < ENOUGH) return false
    this.#going = true
    return true
  }

  get #sum(): number {
    return this.#claps.reduce((sum, clap) => sum + clap.count, 0)
  }
}
