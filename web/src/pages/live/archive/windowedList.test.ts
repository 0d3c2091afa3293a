import { expect, test } from 'vitest'
import type { LiveCommentView } from '../../../generated'
import { seqBefore } from '../room/commentCache.svelte'
import { WINDOW_SIZE, WindowedList, type CommentPage, type CommentSource } from './windowedList.svelte'

const PAGE = 200

function comment(number: number): LiveCommentView {
  return { commentId: `id-${number}`, seq: String(number).padStart(12, '0'), content: `c${number}`, nickname: 'Ada', createdAt: '' }
}

/** A source of this many comments, in pages like the server's. */
function sourceOf(count: number, backwards = true): CommentSource {
  const all = Array.from({ length: count }, (_, at) => comment(at + 1))
  const after = (seq: string | null): Promise<CommentPage> => {
    const rows = all.filter((row) => row.seq > (seq ?? '')).slice(0, PAGE)
    return Promise.resolve({ rows, next: rows.length === PAGE ? rows.at(-1)!.seq : null })
  }
  const before = (seq: string): Promise<CommentPage> => {
    const rows = all.filter((row) => row.seq < seq).slice(-PAGE)
    return Promise.resolve({ rows, next: rows.length === PAGE ? rows[0]!.seq : null })
  }
  return backwards ? { after, before } : { after }
}

const numbers = (list: WindowedList): number[] => list.shown.map((row) => Number(row.seq))

async function scrollThrough(list: WindowedList, up: boolean): Promise<Set<number>> {
  const seen = new Set(numbers(list))
  for (let turns = 0; turns < 200; turns += 1) {
    await (up ? list.fetchAbove() : list.fetchBelow())
    if (!(up ? list.moveUp() : list.moveDown())) break
    const shown = numbers(list)
    expect(shown.length).toBeLessThanOrEqual(WINDOW_SIZE)
    expect(shown).toEqual(shown.map((_, at) => shown[0]! + at))
    for (const number of shown) seen.add(number)
  }
  return seen
}

test('a long list scrolls to its end and back, a window at a time, without a missing row', async () => {
  const list = new WindowedList(sourceOf(2345))
  await list.open()
  expect(list.isAtStart).toBe(true)
  expect((await scrollThrough(list, false)).size).toBe(2345)
  expect(list).toMatchObject({ isAtEnd: true, isAtStart: false })
  expect(list.rows.length).toBeLessThan(1100)
  expect((await scrollThrough(list, true)).size).toBe(2345)
  expect(numbers(list)[0]).toBe(1)
  expect(list).toMatchObject({ isAtEnd: false, isAtStart: true })
})

test('a distant position opens there and scrolls in both directions', async () => {
  const list = new WindowedList(sourceOf(2000))
  await list.open()
  await list.open(comment(1500).seq)
  expect(numbers(list)[0]).toBe(1500)
  expect(list.isAtStart).toBe(false)
  await list.fetchAbove()
  expect(numbers(list)[0]).toBe(1500)
  expect(list.moveUp()).toBe(true)
  expect(numbers(list)[0]).toBe(1450)
})

test('a loaded position is not fetched again', async () => {
  const source = sourceOf(2000)
  let requests = 0
  const list = new WindowedList({ ...source, after: (seq) => { requests += 1; return source.after(seq) } })
  await list.open()
  await list.open(comment(120).seq)
  expect(requests).toBe(1)
  expect(numbers(list)).toContain(120)
})

test('of two requested positions the last one counts', async () => {
  const replies: (() => void)[] = []
  const source = sourceOf(5000)
  const list = new WindowedList({ ...source, after: (seq) => new Promise((resolve) => replies.push(() => resolve(source.after(seq)))) })
  const first = list.open(comment(1000).seq)
  const second = list.open(comment(3000).seq)
  replies[1]!()
  expect(await second).toBe(true)
  replies[0]!()
  expect(await first).toBe(false)
  expect(numbers(list)[0]).toBe(3000)
})

test('a failed request is reported and can be repeated', async () => {
  const source = sourceOf(500)
  let broken = true
  const list = new WindowedList({ ...source, after: (seq) => (broken ? Promise.reject(new Error('offline')) : source.after(seq)) })
  expect(await list.open()).toBe(false)
  expect(list).toMatchObject({ busy: false, isAtEnd: true })
  expect(list.error).toBeInstanceOf(Error)
  broken = false
  expect(await list.open()).toBe(true)
  expect(list.error).toBeNull()
})

test('the results of a search are loaded to the end and all stay', async () => {
  const list = new WindowedList(sourceOf(1500, false))
  await list.open()
  expect((await scrollThrough(list, false)).size).toBe(1500)
  expect(list.rows.length).toBe(1500)
})

test('a short list is loaded at once', async () => {
  const list = new WindowedList(sourceOf(3))
  expect(list.isAtEnd).toBe(false)
  await list.open()
  expect(list).toMatchObject({ isAtStart: true, isAtEnd: true })
  expect(list.moveDown() || list.moveUp()).toBe(false)
  list.remove('id-2')
  expect(numbers(list)).toEqual([1, 3])
})

test('the position before another stops at zero', () => {
  expect(seqBefore('000010000001')).toBe('000010000000')
  expect(seqBefore('000000000000')).toBe('000000000000')
})
