/** What a room refuses, in the reader's language. */

import { codeOf, said } from '../../lib/errorText'
import { has, t } from '../../lib/texts.svelte'

/** A sentence that says what to do; what only live rooms refuse has words of its own. */
export function saidInRoom(error: unknown): string {
  const key = `live.refused.${codeOf(error)}`
  return has(key) ? t(key) : said(error)
}
