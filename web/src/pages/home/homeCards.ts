/** The home cards of the systems, found in `pages/NAME/HomeCard.svelte`: an object on the table, and a summary of its state. */

import type { Component } from 'svelte'
import type { HomeState, SystemName } from '../../generated'

export interface HomeSummary {
  text: string
  /** When it ends, where a countdown follows the text. */
  endsAt?: number
  /** Short texts below; each stays on one line. */
  details?: string[]
  /** What the system's entrance page lists. */
  list?: { items: string[]; isRanked: boolean }
}

interface HomeCard {
  default: Component
  summarize: (state: never) => HomeSummary
}

const CARDS = import.meta.glob<HomeCard>('../*/HomeCard.svelte', { eager: true })

/** The object of a system; undefined for a system without a home card. */
export function homeObject(name: string): Component | undefined {
  return cardOf(name)?.default
}

/** The summary of a system; undefined while its state is unknown. */
export function homeSummary(name: SystemName, state: HomeState | null): HomeSummary | undefined {
  const ownState = state?.[name]
  return ownState ? cardOf(name)?.summarize(ownState as never) : undefined
}

function cardOf(name: string): HomeCard | undefined {
  return CARDS[`../${name}/HomeCard.svelte`]
}
