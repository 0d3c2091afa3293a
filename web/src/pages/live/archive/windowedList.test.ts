import { expect, test } from 'vitest'
import type { LiveCommentView } from '../../../generated'
import { justBefore, Roll, SHOWN, type Source, type Stretch } from './windowedList.svelte'

const PAGE = 200

function comment(number: number): LiveCommentView {
  return { commentId: `id-${number}`, seq: String(number).padStart(12, '0'), content: `c${number}`, nickname: 'Ada', createdAt: '' }
}

/** A talk of so many comments, read as the server gives it out. */
function talk(count: number, backwards = true): Source {
  const all = Array.from({ length: count }, (_, at) => comment(at + 1))
  const after = (place: string | null): Promise<Stretch> => {
    const rows = all.filter((row) => row.seq > (place ?? '')).slice(0, PAGE)
    return Promise.resolve({ rows, next: rows.length === PAGE ? rows.at(-1)!.seq : null })
  }
  const before = (place: string): Promise<Stretch> => {
    const rows = all.filter((row) => row.seq < place).slice(-PAGE)
    return Promise.resolve({ rows, next: rows.length === PAGE ? rows[0]!.seq : null })
  }
  return backwards ? { after, before } : { after }
}

const numbers = (roll: Roll): number[] => roll.shown.map((row) => Number(row.seq))

async function through(roll: Roll, up: boolean): Promise<Set<number>> {
  const seen = new Set(numbers(roll))
  for (let turns = 0; turns < 200; turns += 1) {
    await (up ? roll.reachUp() : roll.reachDown())
    if (!(up ? roll.up() : roll.down())) break
    const shown = numbers(roll)
    expect(shown.length).toBeLessThanOrEqual(SHOWN)
    expect(shown).toEqual(shown.map((_, at) => shown[0]! + at))
    for (const number of shown) seen.add(number)
  }
  return seen
}

test('a long talk is read to its end and back, a window at a time, and none is missed', async () => {
  const roll = new Roll(talk(2345))
  await roll.open()
  expect(roll.begun).toBe(true)
  expect((await through(roll, false)).size).toBe(2345)
  expect(roll).toMatchObject({ ended: true, begun: false })
  expect(roll.rows.length).toBeLessThan(1100)
  expect((await through(roll, true)).size).toBe(2345)
  expect(numbers(roll)[0]).toBe(1)
  expect(roll).toMatchObject({ ended: false, begun: true })
})

test('a place far away is opened there, and one can go on in both directions', async () => {
  const roll = new Roll(talk(2000))
  await roll.open()
  await roll.open(comment(1500).seq)
  expect(numbers(roll)[0]).toBe(1500)
  expect(roll.begun).toBe(false)
  await roll.reachUp()
  expect(numbers(roll)[0]).toBe(1500)
  expect(roll.up()).toBe(true)
  expect(numbers(roll)[0]).toBe(1450)
})

test('a place that is at hand is not fetched again', async () => {
  const source = talk(2000)
  let asked = 0
  const roll = new Roll({ ...source, after: (place) => { asked += 1; return source.after(place) } })
  await roll.open()
  await roll.open(comment(120).seq)
  expect(asked).toBe(1)
  expect(numbers(roll)).toContain(120)
})

test('the last of two places that were asked for is the one that counts', async () => {
  const answers: (() => void)[] = []
  const source = talk(5000)
  const roll = new Roll({ ...source, after: (place) => new Promise((resolve) => answers.push(() => resolve(source.after(place)))) })
  const first = roll.open(comment(1000).seq)
  const second = roll.open(comment(3000).seq)
  answers[1]!()
  expect(await second).toBe(true)
  answers[0]!()
  expect(await first).toBe(false)
  expect(numbers(roll)[0]).toBe(3000)
})

test('what fails is said and can be asked for again', async () => {
  const source = talk(500)
  let broken = true
  const roll = new Roll({ ...source, after: (place) => (broken ? Promise.reject(new Error('away')) : source.after(place)) })
  expect(await roll.open()).toBe(false)
  expect(roll).toMatchObject({ busy: false, ended: true })
  expect(roll.error).toBeInstanceOf(Error)
  broken = false
  expect(await roll.open()).toBe(true)
  expect(roll.error).toBeNull()
})

test('what a search found goes on to its end and is all kept', async () => {
  const roll = new Roll(talk(1500, false))
  await roll.open()
  expect((await through(roll, false)).size).toBe(1500)
  expect(roll.rows.length).toBe(1500)
})

test('a short talk is there at once', async () => {
  const roll = new Roll(talk(3))
  expect(roll.ended).toBe(false)
  await roll.open()
  expect(roll).toMatchObject({ begun: true, ended: true })
  expect(roll.down() || roll.up()).toBe(false)
  roll.remove('id-2')
  expect(numbers(roll)).toEqual([1, 3])
})

test('the place before a place', () => {
  expect(justBefore('000010000001')).toBe('000010000000')
  expect(justBefore('000000000000')).toBe('000000000000')
})
