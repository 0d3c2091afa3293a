/** The five things that lie on the table, one for each system. */

import type { Component } from 'svelte'
import type { SystemName } from '../../shell/routes'
import Drawing from '../drawing/HomeCard.svelte'
import Kifu from '../kifu/HomeCard.svelte'
import Live from '../live/HomeCard.svelte'
import Othello from '../othello/HomeCard.svelte'
import Ranking from '../ranking/HomeCard.svelte'

export const OBJECTS: Record<SystemName, Component> = { drawing: Drawing, othello: Othello, ranking: Ranking, live: Live, kifu: Kifu }
