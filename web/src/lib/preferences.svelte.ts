/** Day, night, or as the machine has it. The choice is kept in a cookie, so that the server writes the document in it. */

import { keepChoice } from './document'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const root = document.documentElement
const given = root.dataset.theme
let chosen = $state<Theme>(given === 'light' || given === 'dark' ? given : 'system')

export const theme = {
  get current(): Theme {
    return chosen
  },
}

/** Change the theme of the pages, and remember it in this browser. */
export function setTheme(wanted: Theme): void {
  chosen = wanted
  if (wanted === 'system') delete root.dataset.theme
  else root.dataset.theme = wanted
  keepChoice('zataku_theme', wanted === 'system' ? null : wanted)
  colourWindow()
}

/** Give the window's own edges (a phone's status bar, an installed window's title) the colour of the page. */
export function colourWindow(): void {
  const colour = getComputedStyle(document.body).backgroundColor
  const tags = document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')
  for (const tag of tags) {
    tag.removeAttribute('media')
    tag.content = colour
  }
}
