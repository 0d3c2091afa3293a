import { expect, test } from 'vitest'
import type { Stage } from './lanes'
import { paceOf, Queue, type Waiting } from './queue'

// A comment of 896 pixels takes a second of one of eight lanes, so eight of them fly in a second.
const STAGE: Stage = { width: 1024, height: 1024, laneHeight: 128 }
const SPEED = 1024

function waiting(count: number): Queue<Waiting & { n: number }> {
  const queue = new Queue<Waiting & { n: number }>()
  for (let n = 0; n < count; n += 1) queue.add({ width: 896, since: n * 1_000, n })
  return queue
}

test('what can fly within twenty seconds flies at leisure', () => {
  const queue = waiting(160)
  expect(queue.hurry(STAGE, SPEED)).toBe(1)
  expect(queue.leftOut).toBe(0)
})

test('when more wait, they go faster, and none is left out until twice as fast is not enough', () => {
  const queue = waiting(240)
  expect(queue.hurry(STAGE, SPEED)).toBe(1.5)
  const full = waiting(320)
  expect(full.hurry(STAGE, SPEED)).toBe(2)
  expect([queue.leftOut, full.leftOut]).toEqual([0, 0])
})

test('beyond that the oldest are left out and counted, and the newest win', () => {
  const queue = waiting(420)
  expect(queue.hurry(STAGE, SPEED)).toBe(2)
  expect(queue.leftOut).toBe(100)
  expect(queue.first?.n).toBe(100)
  expect(queue.all.at(-1)?.n).toBe(419)
})

test('while nothing flies, no more are kept than could ever fly', () => {
  const queue = waiting(10_000)
  expect(queue.all).toHaveLength(600)
  expect(queue.leftOut).toBe(9_400)
})

test('who looks again after a while does not see what is old', () => {
  const queue = waiting(60)
  queue.freshen(60_000)
  expect([queue.first?.n, queue.leftOut]).toEqual([16, 16])
  queue.freshen(1_000_000)
  expect([queue.all.length, queue.leftOut]).toEqual([0, 60])
})

test('one alone is never left out, however long', () => {
  const queue = new Queue<Waiting>()
  queue.add({ width: 1e9, since: 0 })
  queue.hurry(STAGE, 50)
  expect(queue.all).toHaveLength(1)
})

test('what is hidden waits no more and is not counted', () => {
  const queue = waiting(3)
  expect(queue.remove(({ n }) => n === 1)).toBe(true)
  expect(queue.remove(({ n }) => n === 1)).toBe(false)
  expect(queue.all.map(({ n }) => n)).toEqual([0, 2])
  expect(queue.leftOut).toBe(0)
})

test('a text longer than the stage flies faster, up to twice', () => {
  expect([10, 1024, 2560, 4096, 50_000].map((width) => paceOf(width, STAGE))).toEqual([1, 1, 1.5, 2, 2])
})
