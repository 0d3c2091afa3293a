/** The theme of the pages: light, dark, or the system's. Kept in a cookie, so that the server writes the document in it. */

import { rememberChoice } from './document'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

let chosen = $state<Theme>(documentTheme())

export const theme = {
  get current(): Theme {
    return chosen
  },
}

/** Change the theme of the pages, and remember it in this browser. */
export function setTheme(wanted: Theme): void {
  const root = document.documentElement
  chosen = wanted
  if (wanted === 'system') delete root.dataset.theme
  else root.dataset.theme = wanted
  rememberChoice('zataku_theme', wanted === 'system' ? null : wanted)
  updateThemeColor()
}

/** Give the browser's own chrome (a phone's status bar, an installed window's title) the colour of the page. */
export function updateThemeColor(): void {
  const colour = getComputedStyle(document.body).backgroundColor
  const tags = document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')
  for (const tag of tags) {
    tag.removeAttribute('media')
    tag.content = colour
  }
}

function documentTheme(): Theme {
  const given = document.documentElement.dataset.theme
  return given === 'light' || given === 'dark' ? given : 'system'
}
