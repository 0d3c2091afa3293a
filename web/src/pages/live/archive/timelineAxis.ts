/** The axis of a room's timeline: round times of day, and the runs of parts in which something happened. */

import type { LiveTimeline } from '../../../generated'

const MINUTE_MS = 60_000
const STEPS_MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440]

/** At most `max` round times, in milliseconds; where there are not two of them, the beginning and the end. */
export function axisTimes({ begin, partSeconds, parts }: Pick<LiveTimeline, 'begin' | 'partSeconds' | 'parts'>, max: number): number[] {
  const start = Date.parse(begin)
  const end = start + parts.length * partSeconds * 1000
  const steps = STEPS_MINUTES.map((minutes) => minutes * MINUTE_MS)
  const step = steps.find((ms) => (end - start) / ms <= max - 1) ?? Math.ceil((end - start) / MINUTE_MS / (max - 1)) * MINUTE_MS
  const round = roundTimes(start, end, step)
  return round.length > 1 ? round : [start, end]
}

/** The multiples of a step, counted from midnight where the reader is. */
function roundTimes(start: number, end: number, step: number): number[] {
  const offset = new Date(start).getTimezoneOffset() * MINUTE_MS
  const times: number[] = []
  for (let time = Math.ceil((start - offset) / step) * step + offset; time <= end; time += step) times.push(time)
  return times
}

/** The runs of neighbouring parts with a count, as points of lines; nothing is drawn between them. */
export function linesOf(counts: readonly number[], height: number): string[] {
  const highest = Math.max(1, ...counts)
  const runs: string[][] = []
  for (const [at, count] of counts.entries()) {
    if (count === 0) continue
    const y = height - (count / highest) * height
    const isFirst = at === 0 || counts[at - 1] === 0
    const isAlone = isFirst && !counts[at + 1]
    // A line of one point would not be seen.
    const points = isAlone ? [`${at + 0.25},${y}`, `${at + 0.75},${y}`] : [`${at + 0.5},${y}`]
    if (isFirst) runs.push(points)
    else runs.at(-1)!.push(...points)
  }
  return runs.map((points) => points.join(' '))
}
