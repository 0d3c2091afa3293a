import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LiveCommentView, LiveLogView } from '../../../generated'
import type { LiveRoom } from '../room/room.svelte'
import { partOf, placeAt } from './timeline'
import { Talk } from './roomArchive.svelte'

const ROOM = '/api/live/rooms/A'
let answers: Record<string, unknown>
let asked: string[]

function comment(number: number): LiveCommentView {
  const createdAt = new Date(number * 10_000).toISOString()
  return { commentId: `id-${number}`, seq: String(number).padStart(12, '0'), content: `c${number}`, nickname: 'Ada', createdAt }
}

const timeline = { begin: comment(0).createdAt, end: comment(9).createdAt, partSeconds: 20, people: 2, comments: 3, parts: [{ comments: 2, seq: comment(1).seq }, {}, { comments: 1, seq: comment(4).seq }, {}] }

beforeEach(() => {
  asked = []
  answers = {
    [`${ROOM}/timeline`]: timeline,
    [`${ROOM}/standing`]: { pinned: [comment(2)], answered: ['id-2'], gone: ['id-3'], votes: { 'id-2': 4, 'id-1': 2 } },
    [`${ROOM}/questions`]: { questions: [{ comment: comment(2), votes: 4, answered: true }, { comment: comment(1), votes: 2, answered: false }] },
    [`${ROOM}/comments`]: { comments: [comment(1), comment(2), comment(3)] },
  }
  vi.stubGlobal('fetch', (url: string) => {
    asked.push(url)
    const answer = answers[url]
    return Promise.resolve(new Response(JSON.stringify(answer ?? { error: { code: 'unavailable', message: '', details: {} } }), { status: answer ? 200 : 503 }))
  })
})

afterEach(() => vi.unstubAllGlobals())

async function over(isHost = true): Promise<Talk> {
  const talk = new Talk({ id: 'A', isHost, isMine: () => false } as unknown as LiveRoom)
  await talk.load()
  return talk
}

function did(action: LiveLogView['action'], subject: string): LiveLogView {
  return { logId: `${action}-${subject}`, at: '', action, subject }
}

test('pinned questions are told once, before the others', async () => {
  const talk = await over()
  expect(talk.highlights.map((one) => one.commentId)).toEqual(['id-2', 'id-1'])
  expect([...talk.hidden]).toEqual(['id-3'])
  expect([...(await over(false)).hidden]).toEqual([])
})

test('what the host does afterwards is seen at once', async () => {
  const talk = await over()
  talk.happened(did('HIDE', 'id-1'))
  expect(talk.hidden.has('id-1')).toBe(true)
  expect(talk.highlights.map((one) => one.commentId)).toEqual(['id-2'])
  talk.happened(did('SHOW', 'id-1'))
  expect(talk.hidden.has('id-1')).toBe(false)
  talk.happened(did('UNPIN', 'id-2'))
  talk.happened(did('PIN', 'id-1'))
  expect(talk.pinned.map((one) => one.commentId)).toEqual(['id-1'])
  talk.happened(did('REASK', 'id-2'))
  expect(talk.answered.has('id-2')).toBe(false)
  talk.happened(did('DELETE', 'id-2'))
  expect(talk.all.rows.map((one) => one.commentId)).toEqual(['id-1', 'id-3'])
  talk.happened(did('BLOCK_WORD', 'spam'))
})

test('a search goes on until enough was found, and ends with nothing to look for', async () => {
  const talk = await over()
  answers[`${ROOM}/search?q=yes`] = { comments: [], next: '000000002000' }
  answers[`${ROOM}/search?q=yes&after=000000002000`] = { comments: [comment(2001)] }
  talk.look(' yes ')
  talk.look('yes')
  await vi.waitFor(() => expect(talk.search?.found.ended).toBe(true))
  expect(talk.search?.found.rows.map((one) => one.content)).toEqual(['c2001'])
  expect(asked.filter((url) => url.includes('search')).length).toBe(2)
  talk.look('')
  expect(talk.search).toBeNull()
})

test('what could not be fetched can be asked for again', async () => {
  const found = answers[`${ROOM}/timeline`]
  delete answers[`${ROOM}/timeline`]
  const talk = await over()
  expect(talk).toMatchObject({ error: { code: 'unavailable' }, timeline: null })
  answers[`${ROOM}/timeline`] = found
  await talk.load()
  expect(talk).toMatchObject({ error: null, timeline: { comments: 3 }, silent: false })
})

test('a part leads to its first comment, an empty one to the next, the last to what there is', () => {
  expect([0, 1, 2, 3].map((at) => Number(placeAt(timeline, at)))).toEqual([1, 4, 4, 4])
  expect(placeAt({ ...timeline, parts: [{}] }, 0)).toBeUndefined()
})

test('a comment belongs to a part of the talk, whatever its clock said', () => {
  expect([0, 1, 2, 5, 99].map((number) => partOf(timeline, comment(number)))).toEqual([0, 0, 1, 2, 3])
  expect(partOf({ ...timeline, begin: comment(5).createdAt }, comment(1))).toBe(0)
})
