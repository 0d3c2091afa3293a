/** What the scope of an API key allows, in words. */

import { SYSTEMS } from '../../generated'
import { has, t } from '../../lib/texts.svelte'
import { systemShortTitle } from '../../shell/systemTitles'

/** The right that a scope such as `live:read` grants, with its system; a scope without a text is shown as it is. */
export function scopeText(scope: string): string {
  const system = SYSTEMS.find(({ scopes }) => scopes.includes(scope))
  const key = `accounts.scope.${scope.slice(scope.indexOf(':') + 1)}`
  return system && has(key) ? t(key, { system: systemShortTitle(system.name) }) : scope
}
