import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LiveCommentView } from '../../generated'
import { ScriptedSocket } from '../../lib/socket/scripted'
import type { Draft, LiveRoom } from './room.svelte'

type Answers = Record<string, unknown[]>

let arrived: Draft[]
let answers: Answers

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
  vi.resetModules()
  ScriptedSocket.opened = []
  arrived = []
  answers = { '/api/live/rooms/A': [{ roomId: 'A', name: 'Types', status: 'OPEN', createdAt: '', mine: true }] }
  vi.stubGlobal('WebSocket', ScriptedSocket)
  vi.stubGlobal('document', { addEventListener: () => undefined, visibilityState: 'visible', documentElement: { lang: 'en' } })
  vi.stubGlobal('addEventListener', () => undefined)
  vi.stubGlobal('location', { protocol: 'http:', host: 'table' })
  vi.stubGlobal('fetch', (url: string) => {
    const answer = answers[url]?.shift()
    return Promise.resolve(new Response(JSON.stringify(answer ?? { error: { code: 'no_such_room', message: '', details: {} } }), { status: answer ? 200 : 404 }))
  })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function comment(seq: number, content = `c${seq}`, nickname = 'Anonymous'): LiveCommentView {
  return { commentId: `id-${seq}`, seq: String(seq).padStart(12, '0'), content, nickname, createdAt: '' }
}

async function enter(): Promise<LiveRoom> {
  const { LiveRoom } = await import('./room.svelte')
  const room = new LiveRoom('A', (draft) => arrived.push(draft))
  await room.enter()
  return room
}

function sit(comments: LiveCommentView[], rest: object = {}): ScriptedSocket {
  const socket = ScriptedSocket.last.welcome()
  const snapshot = { room: { roomId: 'A', name: 'Types', status: 'OPEN', createdAt: '' }, comments, ...rest }
  socket.says({ t: 'joined', id: socket.heard('join').id, to: 'live/A', channel: 1, at: { epoch: 1, seq: 0 }, snapshot, here: 2 })
  return socket
}

function happens(socket: ScriptedSocket, after: number, ...events: unknown[]): void {
  socket.says({ t: 'events', to: 'live/A', epoch: 1, after, seq: after + events.length, events })
}

/** A room in which a comment was sent and its answer lost; on a new socket the room is joined again. */
async function lostAnswer(): Promise<{ room: LiveRoom; socket: ScriptedSocket }> {
  const room = await enter()
  const socket = sit([comment(1)])
  const said = room.say({ content: 'hello', nickname: 'Ada' })
  socket.breaks()
  await expect(said).rejects.toMatchObject({ code: 'unsettled' })
  expect(room.unsure).toMatchObject({ missing: false })
  await vi.advanceTimersByTimeAsync(500)
  const next = ScriptedSocket.last.welcome()
  next.says({ t: 'joined', id: next.heard('join').id, to: 'live/A', channel: 1, at: { epoch: 1, seq: 1 } })
  return { room, socket: next }
}

const contents = (room: LiveRoom): string[] => room.comments.map((one) => one.content)

test('what was said is shown in order and once, and the room stays the host’s', async () => {
  const room = await enter()
  const socket = sit([comment(1), comment(2)], { earlier: true })
  happens(socket, 0, { k: 'commented', comment: comment(3) })
  happens(socket, 0, { k: 'commented', comment: comment(3) })
  expect(contents(room)).toEqual(['c1', 'c2', 'c3'])
  expect(room).toMatchObject({ state: 'open', here: 2, isHost: true, earlier: true, ready: true })
})

test('one’s own comment is known by its answer', async () => {
  const room = await enter()
  const socket = sit([])
  const said = room.say({ content: 'hello', nickname: '' })
  expect(socket.heard('do').what).toEqual({ k: 'comment', content: 'hello' })
  happens(socket, 0, { k: 'commented', comment: comment(1, 'hello') })
  socket.says({ t: 'done', id: socket.heard('do').id, result: comment(1, 'hello') })
  await said
  expect(room.comments.map((one) => room.isMine(one))).toEqual([true])
})

test('a comment whose answer was lost is found among what was said since', async () => {
  const { room, socket } = await lostAnswer()
  happens(socket, 0, { k: 'commented', comment: comment(2, 'hello', 'Ada') })
  expect(room.unsure).toBeNull()
  expect(arrived).toEqual([{ content: 'hello', nickname: 'Ada' }])
  expect(room.isMine(room.comments[1]!)).toBe(true)
})

test('a comment that did not arrive is offered to be sent again, never sent by itself', async () => {
  const { room, socket } = await lostAnswer()
  happens(socket, 0, { k: 'commented', comment: comment(2, 'hello', 'Grace') })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(room.unsure).toMatchObject({ missing: true, draft: { content: 'hello' } })
  expect(socket.count('do')).toBe(0)
  expect(arrived).toEqual([])
})

test('the offer is taken back when the comment arrives late', async () => {
  const { room, socket } = await lostAnswer()
  await vi.advanceTimersByTimeAsync(2_000)
  happens(socket, 0, { k: 'commented', comment: comment(2, 'hello', 'Ada') })
  expect(room.unsure).toBeNull()
})

test('what did not fit into a snapshot is fetched, and what is said meanwhile leaves no gap', async () => {
  const room = await enter()
  const path = '/api/live/rooms/A/comments?after='
  answers[`${path}000000000001`] = [{ comments: [comment(2), comment(3)], more: true }]
  answers[`${path}000000000003`] = [{ comments: [comment(4)] }]
  answers[`${path}000000000004`] = [{ comments: [comment(5)] }]
  const socket = sit([comment(1)], { more: true })
  happens(socket, 0, { k: 'commented', comment: comment(5) })
  expect(contents(room)).toEqual(['c1'])
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']))
})

test('a room that was closed while nobody was connected shows the rest and ends', async () => {
  const { room, socket } = await lostAnswer()
  answers['/api/live/rooms/A/comments?after=000000000001'] = [{ comments: [comment(2, 'bye')] }]
  socket.says({ t: 'gone', to: 'live/A', error: { code: 'room_closed', message: '', details: {} } })
  await vi.waitFor(() => expect(room.state).toBe('closed'))
  expect(contents(room)).toEqual(['c1', 'bye'])
  expect(room.ready).toBe(false)
})

test('a closed room is read without a socket', async () => {
  answers['/api/live/rooms/A'] = [{ roomId: 'A', name: 'Types', status: 'CLOSED', createdAt: '' }]
  answers['/api/live/rooms/A/comments'] = [{ comments: [comment(1)] }]
  const room = await enter()
  expect(room.state).toBe('closed')
  expect(contents(room)).toEqual(['c1'])
  expect(ScriptedSocket.opened).toEqual([])
})

test('a closed room whose comments cannot be fetched does not claim that there were none', async () => {
  answers['/api/live/rooms/A'] = [{ roomId: 'A', name: 'Types', status: 'CLOSED', createdAt: '' }]
  const room = await enter()
  expect(room.state).toBe('failed')
})

test('a room that is not there is told apart from one that cannot be reached', async () => {
  answers = {}
  expect((await enter()).state).toBe('missing')
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('away')))
  expect((await enter()).state).toBe('failed')
})
