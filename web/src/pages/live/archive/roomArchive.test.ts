import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LiveCommentView, LiveLogView } from '../../../generated'
import type { LiveRoom } from '../room/room.svelte'
import { partOf, RoomArchive, seqOfPart } from './roomArchive.svelte'

const ROOM = '/api/live/rooms/A'
let responses: Record<string, unknown>
let requested: string[]

function comment(number: number): LiveCommentView {
  const createdAt = new Date(number * 10_000).toISOString()
  return { commentId: `id-${number}`, seq: String(number).padStart(12, '0'), content: `c${number}`, nickname: 'Ada', createdAt }
}

const timeline = { begin: comment(0).createdAt, end: comment(9).createdAt, partSeconds: 20, people: 2, comments: 3, parts: [{ comments: 2, seq: comment(1).seq }, {}, { comments: 1, seq: comment(4).seq }, {}] }

beforeEach(() => {
  requested = []
  responses = {
    [`${ROOM}/timeline`]: timeline,
    [`${ROOM}/standing`]: { pinned: [comment(2)], answered: ['id-2'], gone: ['id-3'], votes: { 'id-2': 4, 'id-1': 2 } },
    [`${ROOM}/questions`]: { questions: [{ comment: comment(2), votes: 4, answered: true }, { comment: comment(1), votes: 2, answered: false }] },
    [`${ROOM}/comments`]: { comments: [comment(1), comment(2), comment(3)] },
  }
  vi.stubGlobal('fetch', (url: string) => {
    requested.push(url)
    const answer = responses[url]
    return Promise.resolve(new Response(JSON.stringify(answer ?? { error: { code: 'unavailable', message: '', details: {} } }), { status: answer ? 200 : 503 }))
  })
})

afterEach(() => vi.unstubAllGlobals())

async function loadArchive(isHost = true): Promise<RoomArchive> {
  const archive = new RoomArchive({ id: 'A', isHost, isMine: () => false } as unknown as LiveRoom)
  await archive.load()
  return archive
}

function logEntry(action: LiveLogView['action'], subject: string): LiveLogView {
  return { logId: `${action}-${subject}`, at: '', action, subject }
}

test('pinned questions are listed once, before the others', async () => {
  const archive = await loadArchive()
  expect(archive.highlights.map((comment) => comment.commentId)).toEqual(['id-2', 'id-1'])
  expect([...archive.hidden]).toEqual(['id-3'])
  expect([...(await loadArchive(false)).hidden]).toEqual([])
})

test('the host’s actions after the end are applied at once', async () => {
  const archive = await loadArchive()
  archive.apply(logEntry('HIDE', 'id-1'))
  expect(archive.hidden.has('id-1')).toBe(true)
  expect(archive.highlights.map((comment) => comment.commentId)).toEqual(['id-2'])
  archive.apply(logEntry('SHOW', 'id-1'))
  expect(archive.hidden.has('id-1')).toBe(false)
  archive.apply(logEntry('UNPIN', 'id-2'))
  archive.apply(logEntry('PIN', 'id-1'))
  expect(archive.pinned.map((comment) => comment.commentId)).toEqual(['id-1'])
  archive.apply(logEntry('REASK', 'id-2'))
  expect(archive.answered.has('id-2')).toBe(false)
  archive.apply(logEntry('DELETE', 'id-2'))
  expect(archive.all.rows.map((comment) => comment.commentId)).toEqual(['id-1', 'id-3'])
  archive.apply(logEntry('BLOCK_WORD', 'spam'))
})

test('a search fetches pages until it has enough results, and ends with an empty text', async () => {
  const archive = await loadArchive()
  responses[`${ROOM}/search?q=yes`] = { comments: [], next: '000000002000' }
  responses[`${ROOM}/search?q=yes&after=000000002000`] = { comments: [comment(2001)] }
  archive.find(' yes ')
  archive.find('yes')
  await vi.waitFor(() => expect(archive.search?.results.isAtEnd).toBe(true))
  expect(archive.search?.results.rows.map((comment) => comment.content)).toEqual(['c2001'])
  expect(requested.filter((url) => url.includes('search')).length).toBe(2)
  archive.find('')
  expect(archive.search).toBeNull()
})

test('a failed load can be repeated', async () => {
  const timelineResponse = responses[`${ROOM}/timeline`]
  delete responses[`${ROOM}/timeline`]
  const archive = await loadArchive()
  expect(archive).toMatchObject({ error: { code: 'unavailable' }, timeline: null })
  responses[`${ROOM}/timeline`] = timelineResponse
  await archive.load()
  expect(archive).toMatchObject({ error: null, timeline: { comments: 3 }, isEmpty: false })
})

test('a part leads to its first comment, an empty one to the next, the last one to the last comment', () => {
  expect([0, 1, 2, 3].map((at) => Number(seqOfPart(timeline, at)))).toEqual([1, 4, 4, 4])
  expect(seqOfPart({ ...timeline, parts: [{}] }, 0)).toBeUndefined()
})

test('a comment belongs to a part of the timeline, also outside of its time', () => {
  expect([0, 1, 2, 5, 99].map((number) => partOf(timeline, comment(number)))).toEqual([0, 0, 1, 2, 3])
  expect(partOf({ ...timeline, begin: comment(5).createdAt }, comment(1))).toBe(0)
})
