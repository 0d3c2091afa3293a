/** What a host can still do when a talk is over: hide, delete, pin, mark as answered. Fetched for the host alone. */

import { untrack } from 'svelte'
import type { LiveLogView } from '../../../generated'
import type { Actions as Deeds, Moderation } from '../host'
import type { Talk } from './roomArchive.svelte'

export class Hosting {
  moderation = $state.raw<Moderation | null>(null)
  #actions = $state.raw<typeof Deeds | null>(null)
  /** What the log said when it was fetched has happened already. */
  #known: LiveLogView | null | undefined
  #begun: Promise<void> | undefined

  constructor(readonly talk: Talk) {}

  get ready(): boolean {
    return this.moderation !== null && this.#actions !== null
  }

  get Actions(): typeof Deeds {
    return this.#actions!
  }

  /** Once is enough. Without it the host reads like everybody else. */
  begin(): Promise<void> {
    this.#begun ??= this.#fetch().catch(() => void (this.#begun = undefined))
    return this.#begun
  }

  async #fetch(): Promise<void> {
    const { Actions, Moderation } = await import('../host')
    const moderation = new Moderation(this.talk)
    await moderation.load()
    this.#known = moderation.log[0] ?? null
    this.#actions = Actions
    this.moderation = moderation
  }

  /** To be called in an effect: passes on what the host does. */
  follow(): void {
    const log = this.moderation?.log ?? []
    untrack(() => {
      if (this.#known === undefined) return
      const until = log.findIndex((entry) => entry.logId === this.#known?.logId)
      const done = until < 0 ? log : log.slice(0, until)
      for (const entry of done.toReversed()) this.talk.happened(entry)
      this.#known = log[0] ?? this.#known
    })
  }
}
