/** Where toasts go when a field is in their place: above it. */

export interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

const GAP_PX = 8

/** Fields of text, and what a page marks as never to be covered. */
const OBSTACLES = 'input:not([type=checkbox], [type=radio], [type=range], [type=color]), textarea, [data-clear-of-toasts]'

/**
 * How far up a box moves, in pixels, to cover no obstacle. Zero when there is no place above them: then it is better seen
 * than clear of everything.
 */
export function liftOver(box: Box, obstacles: readonly Box[]): number {
  let lift = 0
  const inTheWay = obstacles.filter((other) => other.left < box.right && other.right > box.left)
  for (const other of inTheWay.toSorted((a, b) => b.bottom - a.bottom)) {
    const covers = other.top < box.bottom - lift && other.bottom > box.top - lift
    if (covers) lift = box.bottom - other.top + GAP_PX
  }
  return box.top - lift < 0 ? 0 : lift
}

/** The visible obstacles in a part of the page. */
export function obstaclesIn(root: ParentNode): Box[] {
  return [...root.querySelectorAll<HTMLElement>(OBSTACLES)].filter((element) => element.checkVisibility()).map((element) => element.getBoundingClientRect())
}
