/** A talk in figures, as it is told. */

import type { LiveTimeline } from '../../../generated'
import { lasting, moment } from '../../../lib/formats'
import { t } from '../../../lib/texts.svelte'

const MINUTE = 60_000

/** When it ended and what came together: comments, people, how long, reactions; without what there was none of. */
export function figures(timeline: LiveTimeline, closedAt: string | undefined): string[] {
  const { clap = 0, aha = 0, lol = 0 } = timeline.reactions ?? {}
  const minutes = Math.round((Date.parse(timeline.end) - Date.parse(timeline.begin)) / MINUTE)
  return [
    closedAt !== undefined && moment(Date.parse(closedAt)),
    timeline.comments > 0 && t('liveafter.comments', { n: timeline.comments }),
    timeline.people > 0 && t('liveafter.people', { n: timeline.people }),
    minutes > 0 && lasting(minutes * MINUTE),
    clap + aha + lol > 0 && t('liveafter.reactions', { n: clap + aha + lol }),
  ].filter((it) => it !== false)
}
