/** The five things that lie on the table, one for each system. */

import type { Component } from 'svelte'
import type { SystemName } from '../shell/routes'
import Drawing from './Drawing.svelte'
import Kifu from './Kifu.svelte'
import Live from './Live.svelte'
import Othello from './Othello.svelte'
import Ranking from './Ranking.svelte'

export const OBJECTS: Record<SystemName, Component> = { drawing: Drawing, othello: Othello, ranking: Ranking, live: Live, kifu: Kifu }
