/** What a host can look at: all comments, the ones that most people want answered, or the hidden ones. */

import type { LiveCommentView } from '../../../generated'

export type View = 'all' | 'top' | 'hidden'

export const VIEWS: readonly View[] = ['all', 'top', 'hidden']

interface Room {
  readonly comments: readonly LiveCommentView[]
  readonly hidden: ReadonlySet<string>
  readonly answered: ReadonlySet<string>
  readonly votes: ReadonlyMap<string, number>
}

/** The comments of a view: in the order of the room, but the top ones with what waits for an answer first. */
export function pick(room: Room, view: View, moderation: { readonly hidden: readonly LiveCommentView[] }): readonly LiveCommentView[] {
  if (view === 'all') return room.comments
  if (view === 'hidden') return moderation.hidden
  const votes = (comment: LiveCommentView): number => room.votes.get(comment.commentId) ?? 0
  const answered = (comment: LiveCommentView): number => Number(room.answered.has(comment.commentId))
  const wanted = room.comments.filter((comment) => votes(comment) > 0 && !room.hidden.has(comment.commentId))
  return wanted.sort((one, other) => answered(one) - answered(other) || votes(other) - votes(one))
}
