/**
 * Comments that wait for a lane, in order. When the queue is long, comments fly faster; when even that is not enough, the
 * oldest are dropped and counted.
 */

import { gapOf, laneCount, type Stage } from './lanes'

/** At normal speed the queue should empty within this time. */
const TARGET_SECONDS = 20
const MAX_SPEEDUP = 2
/** Bounds the queue while the page is hidden and nothing flies. */
const MAX_QUEUED = 600
/** An older comment refers to a slide that is gone. */
const MAX_AGE_MS = 45_000
export const MAX_FLYING = 60
/** A text of this many stage widths gets the full speedup; one of a single width or less gets none. */
const LONG_TEXT_STAGES = 4

/** The speedup of a long text, which would occupy its lane for minutes otherwise. */
export function speedupOf(width: number, stage: Stage): number {
  const beyond = (width / Math.max(1, stage.width) - 1) / (LONG_TEXT_STAGES - 1)
  return 1 + Math.min(1, Math.max(0, beyond)) * (MAX_SPEEDUP - 1)
}

export interface Queued {
  width: number
  /** When it was queued, in milliseconds. */
  since: number
}

export class Queue<T extends Queued> {
  dropped = 0
  #queued: T[] = []

  get first(): T | undefined {
    return this.#queued[0]
  }

  get all(): readonly T[] {
    return this.#queued
  }

  add(item: T): void {
    this.#queued.push(item)
    if (this.#queued.length > MAX_QUEUED) this.#drop(1)
  }

  takeFirst(): void {
    this.#queued.shift()
  }

  /** Remove the matching items; true when there were any. */
  remove(matches: (item: T) => boolean): boolean {
    const before = this.#queued.length
    this.#queued = this.#queued.filter((item) => !matches(item))
    return this.#queued.length < before
  }

  clear(): void {
    this.#queued = []
  }

  /** Drop the items that are too old, after the page was hidden for a while. */
  dropStale(now: number): void {
    const firstFresh = this.#queued.findIndex(({ since }) => since > now - MAX_AGE_MS)
    this.#drop(firstFresh < 0 ? this.#queued.length : firstFresh)
  }

  /** The speedup for the next comments, after dropping the oldest that could not fly in time. */
  speedup(stage: Stage, speed: number): number {
    // Seconds that each takes of a lane's time, or of the limit on flying comments.
    const costs = this.#queued.map(({ width }) => {
      const pixelsPerSecond = speedupOf(width, stage) * speed
      return Math.max((width + gapOf(stage)) / pixelsPerSecond / laneCount(stage), (width + stage.width) / pixelsPerSecond / MAX_FLYING)
    })
    let total = costs.reduce((sum, cost) => sum + cost, 0)
    let late = 0
    while (total > TARGET_SECONDS * MAX_SPEEDUP && late < costs.length - 1) total -= costs[late++] ?? 0
    this.#drop(late)
    return Math.min(MAX_SPEEDUP, Math.max(1, total / TARGET_SECONDS))
  }

  #drop(count: number): void {
    this.#queued.splice(0, count)
    this.dropped += count
  }
}
