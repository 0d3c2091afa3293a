/** The titles of systems in the page's language. */

import { has, t } from '../lib/texts.svelte'

/** The title of a system; its name where the texts have none. */
export function systemTitle(name: string): string {
  return textOr(`system.${name}.title`, name)
}

/** The title of a system in navigation bars. */
export function systemShortTitle(name: string): string {
  return textOr(`system.${name}.short`, systemTitle(name))
}

function textOr(key: string, fallback: string): string {
  return has(key) ? t(key) : fallback
}
