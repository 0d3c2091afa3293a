/** Keeps the scroll position and the keyboard focus in a log of comments while its rows change. */

import type { LiveCommentView } from '../../../generated'

const UPVOTE = '[data-upvote]'

/** A comment, the distance of its row from the top of the box, and the focus: in the box, in a row, or elsewhere (null). */
export interface Anchor {
  seq: string
  top: number
  focus: string | null
}

/** The focus is on the box itself. */
export const IN_BOX = ''

/** The first visible comment of a box. */
export function anchorIn(box: HTMLElement): Anchor | null {
  const edge = box.getBoundingClientRect().top
  for (const row of rowsOf(box)) {
    const { top, bottom } = row.getBoundingClientRect()
    if (bottom > edge) return { seq: row.dataset.seq!, top: top - edge, focus: focusIn(box) }
  }
  return null
}

/** The row that Tab leads to: the one that held the focus last, or the newest. ↑ and ↓ lead to the others. */
export function tabStopOf(shown: readonly LiveCommentView[], focused: string | null): string | undefined {
  return shown.some((comment) => comment.seq === focused) ? focused! : shown.at(-1)?.seq
}

/** The `seq` of the row that an event happened in. */
export function seqOf({ target }: Event): string | null {
  return (target instanceof Element && target.closest<HTMLElement>('[data-seq]')?.dataset.seq) || null
}

/** The `seq` of the row that holds the focus, `IN_BOX` for the box itself, null for elsewhere. */
export function focusIn(box: HTMLElement): string | null {
  const { activeElement } = document
  if (!activeElement || !box.contains(activeElement)) return null
  return activeElement.closest<HTMLElement>('[data-seq]')?.dataset.seq ?? IN_BOX
}

/** Focus the row that had the focus in another box with the same comments. */
export function restoreFocus(box: HTMLElement, focus: string | null): void {
  if (focus === null) return
  const row = focus === IN_BOX ? undefined : rowsOf(box).find((element) => element.dataset.seq === focus)
  const target = row?.querySelector<HTMLElement>(UPVOTE) ?? box
  target.focus({ preventScroll: true })
}

/** The upvote button that an arrow key leads to: that of the row above or below. */
export function adjacentUpvote(event: KeyboardEvent): HTMLElement | undefined {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  const from = event.currentTarget as HTMLElement
  if (step === undefined) return undefined
  const all = [...(from.closest('[role=log]')?.querySelectorAll<HTMLElement>(UPVOTE) ?? [])]
  return all[all.indexOf(from) + step]
}

/** Scroll a box so that the comment is where it was; the next one, if it has been removed. */
export function scrollToAnchor(box: HTMLElement, { seq, top }: Anchor): void {
  const row = rowsOf(box).find((element) => element.dataset.seq! >= seq)
  if (row) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - top
}

function rowsOf(box: HTMLElement): HTMLElement[] {
  return [...box.querySelectorAll<HTMLElement>('[data-seq]')]
}
