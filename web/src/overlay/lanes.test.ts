import { describe, expect, test } from 'vitest'
import { endOf, gapOf, Lanes, laneCount, leftAt, type Flight, type Stage } from './lanes'

const STAGE: Stage = { width: 1000, height: 150, laneHeight: 50 }

/** Numbers that look random and are the same each time. */
function chance(seed: number): (least: number, most: number) => number {
  let state = seed
  return (least, most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return least + (state / 2 ** 32) * (most - least)
  }
}

interface Flown {
  flight: Flight
  gap: number
  /** When it left the stage, or was taken off it. */
  until: number
}

/** The least that two ever have between them, while both are there; both move evenly, so it is at one of the ends. */
function nearest(one: Flown, other: Flown): number {
  const begin = Math.max(one.flight.start, other.flight.start)
  const end = Math.min(one.until, other.until)
  if (begin >= end) return Infinity
  const apart = [begin, end].map((now) => {
    const [a, b] = [leftAt(one.flight, now), leftAt(other.flight, now)]
    return Math.max(b - (a + one.flight.width), a - (b + other.flight.width))
  })
  return Math.min(...apart)
}

function meet(one: Flight, other: Flight): boolean {
  return one.top < other.top + other.height && other.top < one.top + one.height
}

/** Comments of all lengths at all speeds, on a stage that changes its form and letters that change their size. */
function talk(seed: number, comments: number): { flown: Flown[]; waited: number } {
  const random = chance(seed)
  const lanes = new Lanes()
  const flown: Flown[] = []
  let stage = STAGE
  let now = 0
  let waited = 0
  while (flown.length < comments) {
    now += random(0, 400)
    if (random(0, 1) < 0.02) stage = { width: random(200, 4000), height: random(20, 1200), laneHeight: random(24, 140) }
    const width = random(0, 1) < 0.1 ? random(1000, 40_000) : random(5, 1000)
    const flight = lanes.place(now, stage, width, random(50, 800))
    if (flight) flown.push({ flight, gap: gapOf(stage), until: endOf(flight) })
    else waited += 1
    const hidden = flown[Math.floor(random(0, flown.length))]
    if (hidden && hidden.until > now && random(0, 1) < 0.02) {
      hidden.until = now
      lanes.remove(hidden.flight)
    }
  }
  return { flown, waited }
}

test.each([1, 2, 3, 4])('of thousands of comments no two overlap or come closer than the gap (%i)', (seed) => {
  const { flown, waited } = talk(seed, 3_000)
  expect(waited).toBeGreaterThan(100)
  const slack: number[] = []
  flown.forEach((one, index) => {
    for (const other of flown.slice(index + 1)) {
      if (other.flight.start < one.until && meet(one.flight, other.flight)) slack.push(nearest(one, other) - other.gap)
    }
  })
  expect(slack.length).toBeGreaterThan(1_000)
  expect(slack.filter((left) => left < -1e-6)).toEqual([])
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
    const low = { ...STAGE, height: 50 }
    lanes.place(0, low, 400, 100)
    expect(lanes.place(4_499, low, 10, 100)).toBeUndefined()
    expect(lanes.place(4_500, low, 10, 100)?.start).toBe(4_500)
  })

  test('is not free for a comment that would catch up before the left edge', () => {
    const lanes = new Lanes()
    const low = { ...STAGE, height: 50 }
    lanes.place(0, low, 400, 100)
    // The first leaves at 14 s; at 200 px/s the 950 px to the gap behind the edge take 4.75 s.
    expect(lanes.place(9_249, low, 10, 200)).toBeUndefined()
    expect(lanes.place(9_250, low, 10, 200)).toBeDefined()
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
    const low = { ...STAGE, height: 50 }
    lanes.remove(lanes.place(0, low, 400, 100)!)
    expect(lanes.place(0, low, 400, 100)).toBeDefined()
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
