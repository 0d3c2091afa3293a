import { describe, expect, test } from 'vitest'
import { endOf, gapOf, Lanes, laneCount, leftAt, type Flight, type Stage } from './lanes'

const STAGE: Stage = { width: 1000, height: 150, laneHeight: 50 }

/** A random number generator that gives the same numbers for the same seed. */
function seededRandom(seed: number): (min: number, max: number) => number {
  let state = seed
  return (min, max) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return min + (state / 2 ** 32) * (max - min)
  }
}

interface FinishedFlight {
  flight: Flight
  gap: number
  /** When it left the stage, or was removed from it. */
  endedAt: number
}

/** The least distance of two flights while both are on the stage. Their speeds are constant: it is at the begin or end. */
function minDistance(first: FinishedFlight, second: FinishedFlight): number {
  const begin = Math.max(first.flight.start, second.flight.start)
  const end = Math.min(first.endedAt, second.endedAt)
  if (begin >= end) return Infinity
  const distances = [begin, end].map((now) => {
    const [firstLeft, secondLeft] = [leftAt(first.flight, now), leftAt(second.flight, now)]
    return Math.max(secondLeft - (firstLeft + first.flight.width), firstLeft - (secondLeft + second.flight.width))
  })
  return Math.min(...distances)
}

function lanesOverlap(first: Flight, second: Flight): boolean {
  return first.top < second.top + second.height && second.top < first.top + first.height
}

/** Flights of all lengths and speeds, on a stage whose size and font size change; some are removed in flight. */
function simulateFlights(seed: number, count: number): { flights: FinishedFlight[]; refusals: number } {
  const random = seededRandom(seed)
  const lanes = new Lanes()
  const flights: FinishedFlight[] = []
  let stage = STAGE
  let now = 0
  let refusals = 0
  while (flights.length < count) {
    now += random(0, 400)
    if (random(0, 1) < 0.02) stage = { width: random(200, 4000), height: random(20, 1200), laneHeight: random(24, 140) }
    const width = random(0, 1) < 0.1 ? random(1000, 40_000) : random(5, 1000)
    const flight = lanes.place(now, stage, width, random(50, 800))
    if (flight) flights.push({ flight, gap: gapOf(stage), endedAt: endOf(flight) })
    else refusals += 1
    const hidden = flights[Math.floor(random(0, flights.length))]
    if (hidden && hidden.endedAt > now && random(0, 1) < 0.02) {
      hidden.endedAt = now
      lanes.remove(hidden.flight)
    }
  }
  return { flights, refusals }
}

test.each([1, 2, 3, 4])('of thousands of comments no two overlap or come closer than the gap (%i)', (seed) => {
  const { flights, refusals } = simulateFlights(seed, 3_000)
  expect(refusals).toBeGreaterThan(100)
  const margins: number[] = []
  flights.forEach((first, index) => {
    for (const second of flights.slice(index + 1)) {
      if (second.flight.start >= first.endedAt || !lanesOverlap(first.flight, second.flight)) continue
      margins.push(minDistance(first, second) - second.gap)
    }
  })
  expect(margins.length).toBeGreaterThan(1_000)
  expect(margins.filter((margin) => margin < -1e-6)).toEqual([])
})

describe('a lane', () => {
  test('is the uppermost that is free', () => {
    const lanes = new Lanes()
    const tops = [0, 0, 0].map(() => lanes.place(0, STAGE, 400, 100)?.top)
    expect(tops).toEqual([0, 50, 100])
    expect(lanes.place(0, STAGE, 400, 100)).toBeUndefined()
    expect(lanes.count).toBe(3)
  })

  test('is free once the last comment is fully on the stage with a gap behind it', () => {
    const lanes = new Lanes()
    const oneLane = { ...STAGE, height: 50 }
    lanes.place(0, oneLane, 400, 100)
    expect(lanes.place(4_499, oneLane, 10, 100)).toBeUndefined()
    expect(lanes.place(4_500, oneLane, 10, 100)?.start).toBe(4_500)
  })

  test('is not free for a comment that would catch up before the left edge', () => {
    const lanes = new Lanes()
    const oneLane = { ...STAGE, height: 50 }
    lanes.place(0, oneLane, 400, 100)
    // The first leaves at 14 s; at 200 px/s the 950 px to the gap behind the edge take 4.75 s.
    expect(lanes.place(9_249, oneLane, 10, 200)).toBeUndefined()
    expect(lanes.place(9_250, oneLane, 10, 200)).toBeDefined()
  })

  test('is not free before a comment that started further out has passed', () => {
    const lanes = new Lanes()
    lanes.place(0, { ...STAGE, width: 3_000, height: 50 }, 100, 100)
    const narrow = { ...STAGE, height: 50 }
    expect(lanes.place(21_000, narrow, 10, 100)).toBeUndefined()
    expect(lanes.place(21_500, narrow, 10, 100)).toBeDefined()
  })

  test('is free when its comment was hidden', () => {
    const lanes = new Lanes()
    const oneLane = { ...STAGE, height: 50 }
    lanes.remove(lanes.place(0, oneLane, 400, 100)!)
    expect(lanes.place(0, oneLane, 400, 100)).toBeDefined()
  })

  test('is not free while it overlaps lanes of another height', () => {
    const lanes = new Lanes()
    lanes.place(0, STAGE, 400, 100)
    const larger = { ...STAGE, laneHeight: 75 }
    expect(lanes.place(0, larger, 400, 100)?.top).toBe(75)
    expect(lanes.place(0, larger, 400, 100)).toBeUndefined()
  })

  test('exists on a stage without height', () => {
    expect(laneCount({ width: 100, height: 0, laneHeight: 60 })).toBe(1)
  })
})
