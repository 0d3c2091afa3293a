import { expect, test } from 'vitest'
import type { Stage } from './lanes'
import { speedupOf, Queue, type Queued } from './queue'

// A comment of 896 pixels takes a second of one of eight lanes, so eight of them fly in a second.
const STAGE: Stage = { width: 1024, height: 1024, laneHeight: 128 }
const SPEED = 1024

function queueOf(count: number): Queue<Queued & { n: number }> {
  const queue = new Queue<Queued & { n: number }>()
  for (let n = 0; n < count; n += 1) queue.add({ width: 896, since: n * 1_000, n })
  return queue
}

test('a queue that empties within twenty seconds flies at normal speed', () => {
  const queue = queueOf(160)
  expect(queue.speedup(STAGE, SPEED)).toBe(1)
  expect(queue.dropped).toBe(0)
})

test('a longer queue flies faster, and nothing is dropped until twice as fast is not enough', () => {
  const queue = queueOf(240)
  expect(queue.speedup(STAGE, SPEED)).toBe(1.5)
  const full = queueOf(320)
  expect(full.speedup(STAGE, SPEED)).toBe(2)
  expect([queue.dropped, full.dropped]).toEqual([0, 0])
})

test('beyond that the oldest are dropped and counted', () => {
  const queue = queueOf(420)
  expect(queue.speedup(STAGE, SPEED)).toBe(2)
  expect(queue.dropped).toBe(100)
  expect(queue.first?.n).toBe(100)
  expect(queue.all.at(-1)?.n).toBe(419)
})

test('while nothing flies, no more are queued than could ever fly', () => {
  const queue = queueOf(10_000)
  expect(queue.all).toHaveLength(600)
  expect(queue.dropped).toBe(9_400)
})

test('comments that are too old are dropped', () => {
  const queue = queueOf(60)
  queue.dropStale(60_000)
  expect([queue.first?.n, queue.dropped]).toEqual([16, 16])
  queue.dropStale(1_000_000)
  expect([queue.all.length, queue.dropped]).toEqual([0, 60])
})

test('a single comment is never dropped, however long', () => {
  const queue = new Queue<Queued>()
  queue.add({ width: 1e9, since: 0 })
  queue.speedup(STAGE, 50)
  expect(queue.all).toHaveLength(1)
})

test('a hidden comment leaves the queue and is not counted as dropped', () => {
  const queue = queueOf(3)
  expect(queue.remove(({ n }) => n === 1)).toBe(true)
  expect(queue.remove(({ n }) => n === 1)).toBe(false)
  expect(queue.all.map(({ n }) => n)).toEqual([0, 2])
  expect(queue.dropped).toBe(0)
})

test('a text longer than the stage flies faster, up to twice', () => {
  expect([10, 1024, 2560, 4096, 50_000].map((width) => speedupOf(width, STAGE))).toEqual([1, 1, 1.5, 2, 2])
})
