/** The host's moderation of a closed room: hide, delete, pin, mark as answered. Loaded for the host only. */

import { untrack } from 'svelte'
import type { LiveLogView } from '../../../generated'
import type { CommentActions, HostModeration } from '../host'
import type { RoomArchive } from './roomArchive.svelte'

export class ArchiveModeration {
  moderation = $state.raw<HostModeration | null>(null)
  #component = $state.raw<typeof CommentActions | null>(null)
  /** The latest log entry that the archive includes. */
  #lastApplied: LiveLogView | null | undefined
  #loading: Promise<void> | undefined

  constructor(readonly archive: RoomArchive) {}

  get ready(): boolean {
    return this.moderation !== null && this.#component !== null
  }

  get CommentActions(): typeof CommentActions {
    return this.#component!
  }

  /** Load it once. When that fails, the host can still read. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch(() => void (this.#loading = undefined))
    return this.#loading
  }

  async #load(): Promise<void> {
    const { CommentActions, HostModeration } = await import('../host')
    const moderation = new HostModeration(this.archive)
    await moderation.load()
    this.#lastApplied = moderation.log[0] ?? null
    this.#component = CommentActions
    this.moderation = moderation
  }

  /** Apply new log entries to the archive. To be called in an effect. */
  applyNewEntries(): void {
    const log = this.moderation?.log ?? []
    untrack(() => {
      if (this.#lastApplied === undefined) return
      const until = log.findIndex((entry) => entry.logId === this.#lastApplied?.logId)
      const added = until < 0 ? log : log.slice(0, until)
      for (const entry of added.toReversed()) this.archive.apply(entry)
      this.#lastApplied = log[0] ?? this.#lastApplied
    })
  }
}
