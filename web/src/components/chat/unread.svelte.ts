/** New entries of a growing list: which are shown, and how many are unread. */

import { untrack } from 'svelte'

/** Later entries have larger keys. */
export class UnreadTracker<T, K extends string | number> {
  /** The number of entries that the reader has not seen. */
  unread = $state(0)
  /** While the list is held still, entries after this key are not shown. */
  #heldAt = $state<K>()
  #newest: K | undefined

  constructor(
    readonly key: (entry: T) => K,
    initial: readonly T[],
  ) {
    this.#newest = this.#lastKey(initial)
  }

  /** The list is held still: new entries do not move its rows. */
  get isHeld(): boolean {
    return this.#heldAt !== undefined
  }

  shown(all: readonly T[]): readonly T[] {
    return this.isHeld ? all.filter((entry) => !this.#isAfter(entry, this.#heldAt)) : all
  }

  /** The entries that are new since the last call. They count as unread, unless the reader follows the end of the list. */
  update(all: readonly T[], isFollowing: boolean): readonly T[] {
    // A removed entry, or one that is back at its old position, is not new.
    const added = all.filter((entry) => this.#isAfter(entry, this.#newest))
    if (added.length) this.#newest = this.#lastKey(added)
    if (!isFollowing || untrack(() => this.isHeld)) this.unread += added.length
    return added
  }

  hold(on: boolean): void {
    this.#heldAt = on ? this.#newest : undefined
  }

  /** Show all entries that have come while the list was held. */
  catchUp(): void {
    if (this.isHeld) this.hold(true)
    this.unread = 0
  }

  #lastKey(all: readonly T[]): K | undefined {
    const last = all.at(-1)
    return last === undefined ? undefined : this.key(last)
  }

  #isAfter(entry: T, key: K | undefined): boolean {
    return key === undefined || this.key(entry) > key
  }
}
