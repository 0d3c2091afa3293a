/** Views of a room's comments: all, the most upvoted, or the hidden ones (host only). */

import type { LiveCommentView } from '../../../generated'

export type View = 'all' | 'top' | 'hidden'

export const VIEWS: readonly View[] = ['all', 'top', 'hidden']

interface RoomComments {
  readonly comments: readonly LiveCommentView[]
  readonly hidden: ReadonlySet<string>
  readonly answered: ReadonlySet<string>
  readonly votes: ReadonlyMap<string, number>
}

/** The comments of a view: in the order of the room; the top ones by votes, unanswered before answered. */
export function commentsOf(room: RoomComments, view: View, moderation: { readonly hidden: readonly LiveCommentView[] }): readonly LiveCommentView[] {
  if (view === 'all') return room.comments
  if (view === 'hidden') return moderation.hidden
  const votes = (comment: LiveCommentView): number => room.votes.get(comment.commentId) ?? 0
  const answered = (comment: LiveCommentView): number => Number(room.answered.has(comment.commentId))
  const upvoted = room.comments.filter((comment) => votes(comment) > 0 && !room.hidden.has(comment.commentId))
  return upvoted.sort((a, b) => answered(a) - answered(b) || votes(b) - votes(a))
}
