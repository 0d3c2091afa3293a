/** What became of the comments of a room: pinned, answered, gone, upvoted; and how often people reacted. */

import type { LiveCommentView, LiveEvent, LiveReacted, LiveModerationStateView } from '../../../generated'

export type Reaction = 'clap' | 'aha' | 'lol'
export const REACTIONS: readonly Reaction[] = ['clap', 'aha', 'lol']

export class Standing {
  answered = $state.raw<ReadonlySet<string>>(new Set())
  /** What only the host sees, or nobody any more. */
  gone = $state.raw<ReadonlySet<string>>(new Set())
  votes = $state.raw<ReadonlyMap<string, number>>(new Map())
  reactions = $state.raw<Record<Reaction, number>>({ clap: 0, aha: 0, lol: 0 })
  #pins = $state.raw<LiveCommentView[]>([])

  /** Latest first. */
  get pinned(): LiveCommentView[] {
    return this.#pins.filter((comment) => !this.gone.has(comment.commentId))
  }

  /** Everything anew, as a snapshot has it. */
  replace(now: LiveModerationStateView): void {
    this.answered = new Set(now.answered)
    this.gone = new Set(now.gone)
    this.votes = new Map(Object.entries(now.votes ?? {}))
    this.reactions = { clap: 0, aha: 0, lol: 0, ...now.reactions }
    this.#pins = now.pinned ?? []
  }

  happened(events: LiveEvent[]): void {
    for (const event of events) {
      if (event.k === 'gone') this.gone = withId(this.gone, event.commentId)
      else if (event.k === 'back') this.gone = withId(this.gone, event.comment.commentId, false)
      else if (event.k === 'answered') this.answered = withId(this.answered, event.commentId, event.on)
      else if (event.k === 'pinned') this.#pins = [event.comment, ...this.#without(event.comment.commentId)]
      else if (event.k === 'unpinned') this.#pins = this.#without(event.commentId)
    }
    const counted = events.filter((event) => event.k === 'upvoted')
    if (counted.length) this.votes = new Map([...this.votes, ...counted.map((it) => [it.commentId, it.votes] as const)])
  }

  /** The answer to one's own upvote, which may come after that of somebody later. */
  upvoted(commentId: string, votes: number): void {
    if (votes > (this.votes.get(commentId) ?? 0)) this.votes = new Map([...this.votes, [commentId, votes]])
  }

  reacted(more: LiveReacted): void {
    const { clap, aha, lol } = this.reactions
    this.reactions = { clap: clap + (more.clap ?? 0), aha: aha + (more.aha ?? 0), lol: lol + (more.lol ?? 0) }
  }

  #without(commentId: string): LiveCommentView[] {
    return this.#pins.filter((comment) => comment.commentId !== commentId)
  }
}

/** The same with an id in it, or without. */
export function withId(ids: ReadonlySet<string>, id: string, on = true): Set<string> {
  const changed = new Set(ids)
  if (on) changed.add(id)
  else changed.delete(id)
  return changed
}
