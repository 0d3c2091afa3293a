/** What is new in a list that somebody reads while it grows: what they see of it, and how much waits for them. */

import { untrack } from 'svelte'

/** Later entries have larger keys. */
export class Arrivals<T, K extends string | number> {
  /** How many came that the reader has not seen. */
  unread = $state(0)
  /** While it holds still, what came after this waits. */
  #held = $state<K>()
  #newest: K | undefined

  constructor(
    readonly key: (entry: T) => K,
    already: readonly T[],
  ) {
    this.#newest = this.#latest(already)
  }

  /** No row moves because of others that came. */
  get holding(): boolean {
    return this.#held !== undefined
  }

  /** What is to be seen now. */
  shown(all: readonly T[]): readonly T[] {
    return this.holding ? all.filter((entry) => !this.#isAfter(entry, this.#held)) : all
  }

  /** Find out what came. It is unread, unless the reader follows. */
  hear(all: readonly T[], following: boolean): readonly T[] {
    // What goes, or comes back to its old place, is not news.
    const added = all.filter((entry) => this.#isAfter(entry, this.#newest))
    if (added.length) this.#newest = this.#latest(added)
    if (!following || untrack(() => this.holding)) this.unread += added.length
    return added
  }

  hold(on: boolean): void {
    this.#held = on ? this.#newest : undefined
  }

  /** The reader wants to see what waits. */
  catchUp(): void {
    if (this.holding) this.hold(true)
    this.unread = 0
  }

  #latest(all: readonly T[]): K | undefined {
    const last = all.at(-1)
    return last === undefined ? undefined : this.key(last)
  }

  #isAfter(entry: T, place: K | undefined): boolean {
    return place === undefined || this.key(entry) > place
  }
}
