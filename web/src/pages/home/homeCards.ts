/**
 * What the systems show on the home page: `pages/NAME/HomeCard.svelte` is an object on the table with a summary of its state,
 * `pages/NAME/HomeEntry.svelte` a form above the table.
 */

import type { Component } from 'svelte'
import type { HomeState, SystemName } from '../../generated'
import { t } from '../../lib/texts.svelte'
import { hasOwnPage } from '../../shell/routes'

export interface HomeSummary {
  text: string
  /** When it ends, where a countdown follows the text. */
  endsAt?: number
  /** Short texts below; each stays on one line. */
  details?: string[]
}

interface HomeCard {
  default: Component
  summarize: (state: never) => HomeSummary
}

const CARDS = import.meta.glob<HomeCard>('../*/HomeCard.svelte', { eager: true })

const ENTRIES = import.meta.glob<{ default: Component }>('../*/HomeEntry.svelte')

/** Load the forms by which visitors get to where they are expected, such as the number of a room. */
export async function loadHomeEntries(): Promise<Component[]> {
  const modules = await Promise.all(Object.values(ENTRIES).map((load) => load()))
  return modules.map((module) => module.default)
}

/** The object of a system; undefined for a system without a home card. */
export function homeObject(name: string): Component | undefined {
  return cardOf(name)?.default
}

/** The summary of a system; undefined while its state is unknown. One that cannot be entered yet says so. */
export function homeSummary(name: SystemName, state: HomeState | null): HomeSummary | undefined {
  if (!hasOwnPage(name)) return { text: t('home.soon') }
  const ownState = state?.[name]
  return ownState ? cardOf(name)?.summarize(ownState as never) : undefined
}

function cardOf(name: string): HomeCard | undefined {
  return CARDS[`../${name}/HomeCard.svelte`]
}
