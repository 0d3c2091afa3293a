/** Comments in the order of their room, each once. */

import type { LiveCommentView } from '../../../generated'

/** Comes after every place in a room. */
export const AFTER_ALL = '999999999999'

/** Those at hand and more of them: by their places, each once. */
export function merged(held: readonly LiveCommentView[], more: readonly LiveCommentView[]): LiveCommentView[] {
  const last = held.at(-1)?.seq ?? ''
  const bySeq = new Map(held.map((comment) => [comment.seq, comment]))
  for (const comment of more) bySeq.set(comment.seq, comment)
  const all = [...bySeq.values()]
  // Nearly always they come after all others, in order.
  const inOrder = more.every((comment, at) => comment.seq > (more[at - 1]?.seq ?? last))
  return inOrder ? all : all.sort((a, b) => (a.seq < b.seq ? -1 : 1))
}

/** The place right before another, to fetch from there on. */
export function placeBefore(seq: string): string | undefined {
  return seq ? String(Number(seq) - 1).padStart(seq.length, '0') : undefined
}
