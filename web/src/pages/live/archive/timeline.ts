/** The parts of a talk: which one a comment belongs to, and where each begins. */

import type { LiveCommentView, LiveTimeline } from '../../../generated'

/** Which part of the talk a comment belongs to. */
export function partOf(timeline: LiveTimeline, comment: LiveCommentView): number {
  const into = Date.parse(comment.createdAt) - Date.parse(timeline.begin)
  const part = Math.floor(into / 1000 / timeline.partSeconds)
  return Math.min(Math.max(0, part), Math.max(0, timeline.parts.length - 1))
}

/** Where a part begins: at its first comment, or the next one where nobody said anything; after all of them, the last. */
export function placeAt({ parts }: LiveTimeline, at: number): string | undefined {
  return (parts.slice(at).find((part) => part.seq) ?? parts.slice(0, at).findLast((part) => part.seq))?.seq
}
