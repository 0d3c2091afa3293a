import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { axisTimes, linesOf } from './timelineAxis'

beforeEach(() => vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-540))
afterEach(() => vi.restoreAllMocks())

const timeline = (begin: string, partSeconds: number, parts: number) => ({ begin, partSeconds, parts: Array.from({ length: parts }, () => ({})) })
const times = (...given: Parameters<typeof timeline>): string[] => axisTimes(timeline(...given), 4).map((time) => new Date(time).toISOString().slice(11, 19))

test('the axis of an hour has round times', () => {
  // From 10:07 to 11:07, in parts of 30 seconds.
  expect(times('2026-11-18T10:07:00Z', 30, 120)).toEqual(['10:30:00', '11:00:00'])
})

test('the axis of a few minutes has each minute', () => {
  expect(times('2026-11-18T10:07:30Z', 15, 12)).toEqual(['10:08:00', '10:09:00', '10:10:00'])
})

test('the axis of a day counts from midnight where the reader is', () => {
  // Nine hours ahead: 15:00 in UTC is midnight.
  expect(times('2026-11-18T12:00:00Z', 720, 120)).toEqual(['15:00:00', '03:00:00'])
})

test('the axis of some seconds has its beginning and its end', () => {
  expect(times('2026-11-18T10:07:10Z', 1, 20)).toEqual(['10:07:10', '10:07:30'])
})

test('the axis has at most as many times as fit, and they are apart', () => {
  for (const seconds of [1, 7, 60, 301, 3600, 40_000]) {
    const start = Date.parse('2026-11-18T10:07:11Z')
    const axis = axisTimes(timeline('2026-11-18T10:07:11Z', seconds, 120), 4)
    expect(axis.length, String(seconds)).toBeLessThanOrEqual(4)
    expect(new Set(axis).size).toBe(axis.length)
    for (const time of axis) expect(time >= start && time <= start + 120_000 * seconds).toBe(true)
  }
})

test('a line is drawn only where something happened', () => {
  expect(linesOf([0, 0, 0], 100)).toEqual([])
  expect(linesOf([2, 1, 0, 0, 2, 0], 100)).toEqual(['0.5,0 1.5,50', '4.25,0 4.75,0'])
})
