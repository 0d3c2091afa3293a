/** What each of the five says about itself in a line or two. */

import { language, t } from '../../lib/texts.svelte'
import type { HomeState } from '../../generated'

export interface Line {
  text: string
  /** When it ends, where a countdown belongs after the text. */
  endsAt?: number
  /** What stands below; each part stays in one line of its own or beside the next. */
  more?: string[]
}

type Of<K extends keyof HomeState> = NonNullable<HomeState[K]>

function ofDrawing({ openRooms }: Of<'drawing'>): Line {
  return { text: openRooms > 0 ? t('home.drawing.rooms', { n: openRooms }) : t('home.drawing.none') }
}

function ofOthello({ turn, endsAt, votes }: Of<'othello'>): Line {
  if (turn === null) return { text: t('home.othello.none') }
  if (endsAt === null) return { text: t('home.othello.turn', { n: turn }) }
  return { text: t('home.othello.ends'), endsAt: Date.parse(endsAt), more: [t('shell.votes', { n: votes ?? 0 })] }
}

function ofRanking({ day, first }: Of<'ranking'>): Line {
  if (day === null) return { text: t('home.ranking.none') }
  return { text: t('home.ranking.day', { day: shownDay(day) }), more: first }
}

function ofLive({ rooms, people }: Of<'live'>): Line {
  if (people > 0) return { text: t('home.live.people', { n: people }) }
  return { text: rooms > 0 ? t('home.live.rooms', { n: rooms }) : t('home.live.none') }
}

function ofKifu({ count, latest }: Of<'kifu'>): Line {
  if (count === 0) return { text: t('home.kifu.none') }
  return { text: t('home.kifu.count', { n: count }), more: latest.slice(0, 1).map((record) => record.title) }
}

/** The line of each system, or nothing while nobody knows. */
export function linesOf(state: HomeState | null): Partial<Record<keyof HomeState, Line>> {
  if (state === null) return {}
  const { drawing, othello, ranking, live, kifu } = state
  return {
    ...(drawing && { drawing: ofDrawing(drawing) }),
    ...(othello && { othello: ofOthello(othello) }),
    ...(ranking && { ranking: ofRanking(ranking) }),
    ...(live && { live: ofLive(live) }),
    ...(kifu && { kifu: ofKifu(kifu) }),
  }
}

/** A day such as 2026-11-15, the same wherever the reader is. */
function shownDay(day: string): string {
  const at = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(at.getTime())) return day
  return new Intl.DateTimeFormat(language.current, { month: 'long', day: 'numeric', timeZone: 'UTC' }).format(at)
}
