/** When things were said, where it is worth a line: under every comment it would be most of what is read. */

import type { LiveCommentView } from '../../generated'
import { timeOfDay } from '../../lib/formats'

/** The times of day at which a minute begins, by the place of the comment that begins it. */
export function beginsMinute(comments: readonly LiveCommentView[]): Map<string, string> {
  const begins = comments.filter((comment, at) => minuteOf(comment) !== minuteOf(comments[at - 1]))
  return new Map(begins.map((comment) => [comment.seq, timeOfDay(Date.parse(comment.createdAt))]))
}

function minuteOf(comment: LiveCommentView | undefined): string | undefined {
  return comment?.createdAt.slice(0, 16)
}
