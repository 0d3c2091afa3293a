import { expect, test } from 'vitest'
import { UnreadTracker } from './unread.svelte'

const trackerOf = (...already: number[]): UnreadTracker<number, number> => new UnreadTracker((entry: number) => entry, already)

test('known entries are not new, later ones are, once', () => {
  const tracker = trackerOf(1, 2)
  expect(tracker.update([1, 2], true)).toEqual([])
  expect(tracker.update([1, 2, 3, 4], true)).toEqual([3, 4])
  expect(tracker.update([2, 3, 4], true)).toEqual([])
  expect(tracker.unread).toBe(0)
})

test('the first entry of an empty list is new', () => {
  expect(trackerOf().update([1], true)).toEqual([1])
})

test('a removed or restored entry is not new', () => {
  const tracker = trackerOf(1, 3)
  expect(tracker.update([1], false)).toEqual([])
  expect(tracker.update([1, 2, 3], false)).toEqual([])
  expect(tracker.update([1, 2, 3, 4], false)).toEqual([4])
  expect(tracker.unread).toBe(1)
})

test('while the list is held, new entries wait and removed ones disappear', () => {
  const tracker = trackerOf(1, 2)
  tracker.hold(true)
  expect(tracker.update([1, 2, 3, 4], true)).toEqual([3, 4])
  expect(tracker.shown([1, 2, 3, 4])).toEqual([1, 2])
  expect(tracker.unread).toBe(2)
  expect(tracker.shown([1, 3, 4])).toEqual([1])
  tracker.hold(false)
  expect(tracker.shown([1, 3, 4])).toEqual([1, 3, 4])
})

test('catching up shows the waiting entries, and the list is held there', () => {
  const tracker = trackerOf(1)
  tracker.hold(true)
  tracker.update([1, 2], true)
  tracker.catchUp()
  expect([tracker.unread, tracker.shown([1, 2])]).toEqual([0, [1, 2]])
  tracker.update([1, 2, 3], true)
  expect([tracker.unread, tracker.shown([1, 2, 3])]).toEqual([1, [1, 2]])
})

test('an empty log has nothing to hold', () => {
  const tracker = trackerOf()
  tracker.hold(true)
  expect(tracker.shown([1])).toEqual([1])
})
