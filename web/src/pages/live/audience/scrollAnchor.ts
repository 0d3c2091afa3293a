/** Keeping a reader's place in a list of comments while rows come and go around it, and going through it by keys. */

import type { LiveCommentView } from '../../../generated'

const UPVOTE = '[data-upvote]'

/** A comment, how far its row is from the top of what is seen, and where the focus is: in the box, or in a row of it. */
export interface Anchor {
  seq: string
  top: number
  focus: string | null
}

/** The focus is in the box itself, or in nothing that another box has, too. */
export const IN_BOX = ''

/** The first comment that is seen in a box. */
export function anchorIn(box: HTMLElement): Anchor | null {
  const edge = box.getBoundingClientRect().top
  for (const row of rowsOf(box)) {
    const { top, bottom } = row.getBoundingClientRect()
    if (bottom > edge) return { seq: row.dataset.seq!, top: top - edge, focus: focusIn(box) }
  }
  return null
}

/** The row that Tab comes to: where the focus was last, and otherwise the newest. ↑ and ↓ lead to the others. */
export function tabbedOf(shown: readonly LiveCommentView[], focused: string | null): string | undefined {
  return shown.some((comment) => comment.seq === focused) ? focused! : shown.at(-1)?.seq
}

/** The place of the row in which something happened. */
export function rowOf({ target }: Event): string | null {
  return (target instanceof Element && target.closest<HTMLElement>('[data-seq]')?.dataset.seq) || null
}

/** The place of the row that holds the focus, or what stands for the box itself; null when it is elsewhere. */
export function focusIn(box: HTMLElement): string | null {
  const { activeElement } = document
  if (!activeElement || !box.contains(activeElement)) return null
  return activeElement.closest<HTMLElement>('[data-seq]')?.dataset.seq ?? IN_BOX
}

/** Give the focus to where it was in another box with the same comments. */
export function giveFocus(box: HTMLElement, focus: string | null): void {
  if (focus === null) return
  const row = focus === IN_BOX ? undefined : rowsOf(box).find((one) => one.dataset.seq === focus)
  const target = row?.querySelector<HTMLElement>(UPVOTE) ?? box
  target.focus({ preventScroll: true })
}

/** The button that an arrow key leads to from an upvote: that of the row above or below. */
export function besideUpvote(event: KeyboardEvent): HTMLElement | undefined {
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  const from = event.currentTarget as HTMLElement
  if (by === undefined) return undefined
  const all = [...(from.closest('[role=log]')?.querySelectorAll<HTMLElement>(UPVOTE) ?? [])]
  return all[all.indexOf(from) + by]
}

/** Scroll a box so that a comment is where it was. One that went away meanwhile leaves its place to the next. */
export function toAnchor(box: HTMLElement, { seq, top }: Anchor): void {
  const row = rowsOf(box).find((one) => one.dataset.seq! >= seq)
  if (row) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - top
}

function rowsOf(box: HTMLElement): HTMLElement[] {
  return [...box.querySelectorAll<HTMLElement>('[data-seq]')]
}
