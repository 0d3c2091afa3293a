/**
 * Comments that wait for a lane, in order. When there are more than can fly in a while, those that start go faster; when
 * even that is not enough, the ones that have waited longest are left out, and counted.
 */

import { gapOf, lanesOf, type Stage } from './lanes'

/** At leisure, all that wait should be able to fly in so many seconds. */
const PATIENCE_S = 20
const FASTEST = 2
/** More than ever fly in time; it bounds what is kept while the page is not looked at and nothing flies. */
const MOST_WAITING = 600
/** What has waited so long was meant for slides that are gone. */
const STALE_MS = 45_000
/** Flying at the same time. */
export const MOST_FLYING = 60
/** A text of so many stages flies as fast as any; one stage and less is for reading at leisure. */
const LONG_STAGES = 4

/** How a text of that width flies by itself: a very long one faster, or it would hold its lane for minutes. */
export function paceOf(width: number, stage: Stage): number {
  const beyond = (width / Math.max(1, stage.width) - 1) / (LONG_STAGES - 1)
  return 1 + Math.min(1, Math.max(0, beyond)) * (FASTEST - 1)
}

export interface Waiting {
  width: number
  /** Since when, in milliseconds. */
  since: number
}

export class Queue<T extends Waiting> {
  leftOut = 0
  #waiting: T[] = []

  get first(): T | undefined {
    return this.#waiting[0]
  }

  get all(): readonly T[] {
    return this.#waiting
  }

  add(item: T): void {
    this.#waiting.push(item)
    if (this.#waiting.length > MOST_WAITING) this.#leaveOut(1)
  }

  takeFirst(): void {
    this.#waiting.shift()
  }

  /** Take out what matches; true when there was something. */
  remove(matches: (item: T) => boolean): boolean {
    const before = this.#waiting.length
    this.#waiting = this.#waiting.filter((item) => !matches(item))
    return this.#waiting.length < before
  }

  clear(): void {
    this.#waiting = []
  }

  /** Leave out what waits since before the page was looked at again. */
  freshen(now: number): void {
    const fresh = this.#waiting.findIndex(({ since }) => since > now - STALE_MS)
    this.#leaveOut(fresh < 0 ? this.#waiting.length : fresh)
  }

  /** How much faster than at leisure the next ones fly, after leaving out the oldest that would never make it in time. */
  hurry(stage: Stage, speed: number): number {
    // Seconds that each needs of a lane, and of one of the places in the air.
    const needs = this.#waiting.map(({ width }) => {
      const pace = paceOf(width, stage) * speed
      return Math.max((width + gapOf(stage)) / pace / lanesOf(stage), (width + stage.width) / pace / MOST_FLYING)
    })
    let wait = needs.reduce((sum, need) => sum + need, 0)
    let late = 0
    while (wait > PATIENCE_S * FASTEST && late < needs.length - 1) wait -= needs[late++] ?? 0
    this.#leaveOut(late)
    return Math.min(FASTEST, Math.max(1, wait / PATIENCE_S))
  }

  #leaveOut(count: number): void {
    this.#waiting.splice(0, count)
    this.leftOut += count
  }
}
