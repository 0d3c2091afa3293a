/** Going through the buttons of comments by arrow keys: ← → in a row, ↑ ↓ to the same place in the rows beside it. */

const BUTTONS = ':scope > button'

/** The button that an arrow key leads to from the one that holds the focus; none at an end, and for other keys. */
export function stepped(event: KeyboardEvent, row: HTMLElement | undefined): HTMLElement | undefined {
  if (!row) return undefined
  const buttons = buttonsOf(row)
  const at = buttons.findIndex((button) => button === event.target)
  if (at < 0) return undefined
  if (event.key === 'ArrowRight') return buttons[at + 1]
  if (event.key === 'ArrowLeft') return buttons[at - 1]
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  return by === undefined ? undefined : beside(row, by, at)
}

function beside(row: HTMLElement, by: number, at: number): HTMLElement | undefined {
  const rows = [...(row.closest('[role=log]')?.querySelectorAll<HTMLElement>('[data-deeds]') ?? [])]
  const other = rows[rows.indexOf(row) + by]
  if (!other) return undefined
  const buttons = buttonsOf(other)
  return buttons[at] ?? buttons.at(-1)
}

function buttonsOf(row: HTMLElement): HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>(BUTTONS)]
}
