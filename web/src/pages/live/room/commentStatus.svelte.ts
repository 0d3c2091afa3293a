/** The status of a room's comments (pinned, answered, removed, upvoted) and its reaction counts. */

import type { LiveCommentView, LiveEvent, LiveReacted, LiveModerationStateView } from '../../../generated'

export type Reaction = 'clap' | 'aha' | 'lol'
export const REACTIONS: readonly Reaction[] = ['clap', 'aha', 'lol']

export class CommentStatus {
  answered = $state.raw<ReadonlySet<string>>(new Set())
  /** Ids of comments that are hidden or deleted. */
  removed = $state.raw<ReadonlySet<string>>(new Set())
  votes = $state.raw<ReadonlyMap<string, number>>(new Map())
  reactions = $state.raw<Record<Reaction, number>>({ clap: 0, aha: 0, lol: 0 })
  #pins = $state.raw<LiveCommentView[]>([])

  /** Latest first. */
  get pinned(): LiveCommentView[] {
    return this.#pins.filter((comment) => !this.removed.has(comment.commentId))
  }

  /** Replace everything with the status of a snapshot. */
  replace(status: LiveModerationStateView): void {
    this.answered = new Set(status.answered)
    this.removed = new Set(status.gone)
    this.votes = new Map(Object.entries(status.votes ?? {}))
    this.reactions = { clap: 0, aha: 0, lol: 0, ...status.reactions }
    this.#pins = status.pinned ?? []
  }

  apply(events: LiveEvent[]): void {
    for (const event of events) {
      if (event.k === 'gone') this.removed = withId(this.removed, event.commentId)
      else if (event.k === 'back') this.removed = withId(this.removed, event.comment.commentId, false)
      else if (event.k === 'answered') this.answered = withId(this.answered, event.commentId, event.on)
      else if (event.k === 'pinned') this.#pins = [event.comment, ...this.#pinsWithout(event.comment.commentId)]
      else if (event.k === 'unpinned') this.#pins = this.#pinsWithout(event.commentId)
    }
    const upvotes = events.filter((event) => event.k === 'upvoted')
    if (!upvotes.length) return
    const votes = new Map([...this.votes, ...upvotes.map((event) => [event.commentId, event.votes] as const)])
    this.votes = new Map([...votes].filter(([, count]) => count > 0))
  }

  addReactions(more: LiveReacted): void {
    const { clap, aha, lol } = this.reactions
    this.reactions = { clap: clap + (more.clap ?? 0), aha: aha + (more.aha ?? 0), lol: lol + (more.lol ?? 0) }
  }

  #pinsWithout(commentId: string): LiveCommentView[] {
    return this.#pins.filter((comment) => comment.commentId !== commentId)
  }
}

/** A copy of the set with the id added or removed. */
export function withId(ids: ReadonlySet<string>, id: string, on = true): Set<string> {
  const changed = new Set(ids)
  if (on) changed.add(id)
  else changed.delete(id)
  return changed
}
