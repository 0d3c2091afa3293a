/** A comment on the screen: what people wrote is text, whatever it looks like, and turns no other text around. */

import type { LiveCommentView } from '../generated'

const ANONYMOUS = 'Anonymous'

/** An element that says what the comment says, after the name of whoever wrote it where names are wanted and given. */
export function spoken(comment: LiveCommentView, kind: string, names: boolean): HTMLElement {
  const element = document.createElement('p')
  element.className = kind
  element.dataset.comment = comment.commentId
  if (names && comment.nickname !== ANONYMOUS) element.append(part('name', comment.nickname))
  element.append(part('said', comment.content))
  return element
}

function part(kind: string, text: string): HTMLElement {
  const element = document.createElement('bdi')
  element.className = kind
  element.textContent = text
  return element
}

/** The time that everything on the stage moves by, in milliseconds. */
export function stageTime(): number {
  return Number(document.timeline.currentTime ?? 0)
}
