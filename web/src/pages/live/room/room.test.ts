import { expect, test, vi } from 'vitest'
import type { LiveEvent } from '../../../generated'
import { FakeSocket } from '../../../lib/socket/fakeSocket'
import {
  comment, commented, confirmJoin, contents, deliverEvents, disconnect, enter, NOW, reject, reply, requested, responses, resume, ROOM, seq, useFakeServer,
} from './fixtures'

useFakeServer()

const urlAfter = (position: number): string => `/api/live/rooms/A/comments?after=${seq(position)}`
const urlBefore = (position: string): string => `/api/live/rooms/A/comments?before=${position}`
const OFFLINE = new TypeError('offline')

test('comments are shown in order and once', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1), comment(2)], { earlier: true })
  deliverEvents(socket, 0, commented(3))
  deliverEvents(socket, 0, commented(3))
  expect(contents(room)).toEqual(['c1', 'c2', 'c3'])
  expect(room).toMatchObject({ state: 'open', here: 2, isHost: false, hasEarlier: true, ready: true })
})

test('a reconnected page resumes after the last comment, and missed comments appear once', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1)])
  deliverEvents(socket, 0, commented(2))
  await disconnect(socket)
  const next = resume(1, commented(3), commented(4))
  expect(next.lastSent('join')).toMatchObject({ at: { epoch: 1, seq: 1 }, since: seq(2) })
  deliverEvents(next, 1, commented(3), commented(4))
  expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4'])
})

test('comments beyond the snapshot are fetched, and new ones during that leave no gap', async () => {
  const room = await enter()
  responses[urlAfter(1)] = [{ comments: [comment(2), comment(3)], more: true }]
  responses[urlAfter(3)] = [{ comments: [comment(4)] }]
  const socket = confirmJoin([comment(1)], { more: true })
  deliverEvents(socket, 0, commented(5))
  expect(contents(room)).toEqual(['c1'])
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']))
})

test('a gap that cannot be fetched is tried again, and nothing is shown beyond it', async () => {
  const room = await enter()
  responses[urlAfter(1)] = [OFFLINE, { comments: [comment(2)] }]
  const socket = confirmJoin([comment(1)], { more: true })
  deliverEvents(socket, 0, commented(3))
  await vi.advanceTimersByTimeAsync(100)
  deliverEvents(socket, 1, commented(4))
  expect(contents(room)).toEqual(['c1'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4'])
})

test('a new snapshot with the latest comments alone is filled up from the last known one', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1)])
  responses[urlAfter(1)] = [{ comments: [comment(2), comment(3)] }]
  socket.deliver({ t: 'snapshot', to: 'live/A', at: { epoch: 2, seq: 0 }, snapshot: { room: ROOM, comments: [comment(3), comment(4)], earlier: true } })
  expect(contents(room)).toEqual(['c1'])
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4']))
})

test('a hidden comment disappears, and a restored one is back at its position', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1), comment(2), comment(3)], { standing: { pinned: [comment(2)] } })
  deliverEvents(socket, 0, { k: 'gone', commentId: 'id-2' })
  expect(contents(room)).toEqual(['c1', 'c3'])
  expect(room.pinned).toEqual([])
  expect(room.hidden.size).toBe(0)
  deliverEvents(socket, 1, commented(4), { k: 'back', comment: comment(2) })
  expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4'])
  expect(room.pinned).toEqual([comment(2)])
})

test('the last comment may be hidden and restored while the page is offline', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1), comment(2)])
  deliverEvents(socket, 0, { k: 'gone', commentId: 'id-2' })
  await disconnect(socket)
  expect(resume(1, { k: 'back', comment: comment(2) }, commented(3)).lastSent('join').since).toBe(seq(2))
  expect(contents(room)).toEqual(['c1', 'c2', 'c3'])
})

test('a restored comment from before the loaded range is not shown until that is loaded', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(5)], { earlier: true, standing: { gone: ['id-2'] } })
  deliverEvents(socket, 0, { k: 'back', comment: comment(2) })
  expect(contents(room)).toEqual(['c5'])
  responses[urlBefore(seq(5))] = [{ comments: [comment(1), comment(2), comment(3), comment(4)] }]
  await room.loadEarlier()
  expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  expect(room.hasEarlier).toBe(false)
})

test('a snapshot after an outage removes hidden comments, and restored ones are fetched', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1), comment(3), comment(4)], { standing: { gone: ['id-2'], votes: { 'id-1': 3 }, answered: ['id-1'] } })
  await disconnect(socket)
  responses['/api/live/rooms/A/comments'] = [OFFLINE, { comments: [comment(1), comment(2), comment(4), comment(5)] }]
  confirmJoin([comment(5)], { standing: { gone: ['id-3'], votes: { 'id-4': 1 } } }, 2)
  expect(contents(room)).toEqual(['c1', 'c4', 'c5'])
  expect([...room.votes]).toEqual([['id-4', 1]])
  expect(room.answered.size).toBe(0)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(contents(room)).toEqual(['c1', 'c2', 'c4', 'c5'])
})

test('the host keeps seeing what is hidden, until it is deleted', async () => {
  responses['/api/live/rooms/A/comments'] = [{ comments: [comment(1), comment(2), comment(3)] }]
  const room = await enter({ mine: true })
  const socket = confirmJoin([comment(1), comment(3)], { standing: { gone: ['id-2'] } })
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1', 'c2', 'c3']))
  deliverEvents(socket, 0, { k: 'gone', commentId: 'id-3' })
  expect(contents(room)).toEqual(['c1', 'c2', 'c3'])
  expect([...room.hidden]).toEqual(['id-2', 'id-3'])
  deliverEvents(socket, 1, { k: 'gone', commentId: 'id-3', deleted: true })
  expect(contents(room)).toEqual(['c1', 'c2'])
  await disconnect(socket)
  responses['/api/live/rooms/A/comments'] = [{ comments: [comment(1)] }]
  confirmJoin([], { standing: { gone: ['id-2', 'id-3'] } }, 2)
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1']))
})

test('pins are in order, latest first, and follow the host’s actions', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1), comment(2)], { standing: { pinned: [comment(1)] } })
  const events: LiveEvent[] = [{ k: 'pinned', comment: comment(2) }, { k: 'answered', commentId: 'id-1', on: true }, { k: 'unpinned', commentId: 'id-1' }]
  deliverEvents(socket, 0, ...events.slice(0, 2))
  expect(room.pinned.map((pin) => pin.content)).toEqual(['c2', 'c1'])
  deliverEvents(socket, 2, events[2]!, { k: 'changed', room: { ...ROOM, paused: true, slowModeSeconds: 5 } })
  expect(room.pinned.map((pin) => pin.content)).toEqual(['c2'])
  expect([...room.answered]).toEqual(['id-1'])
  expect(room.info).toMatchObject({ paused: true, slowModeSeconds: 5, mine: false })
})

test('an upvote counts once and is remembered by this browser; the number is that of the room', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1)], { standing: { votes: { 'id-1': 3 } } })
  const done = room.upvote('id-1')
  await room.upvote('id-1')
  expect(socket.countSent('do')).toBe(1)
  deliverEvents(socket, 0, { k: 'upvoted', commentId: 'id-1', votes: 5 })
  reply(socket, { k: 'upvoted', commentId: 'id-1', votes: 4 })
  await done
  expect(room.votes.get('id-1')).toBe(5)
  expect([...(await enter()).upvoted]).toEqual(['id-1'])
})

test('an upvote can be taken back, and a comment without one has no number', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1)])
  const given = room.upvote('id-1')
  deliverEvents(socket, 0, { k: 'upvoted', commentId: 'id-1', votes: 1 })
  reply(socket, { k: 'upvoted', commentId: 'id-1', votes: 1 })
  await given
  const takenBack = room.upvote('id-1', false)
  expect([...room.upvoted]).toEqual([])
  deliverEvents(socket, 1, { k: 'upvoted', commentId: 'id-1', votes: 0 })
  reply(socket, { k: 'upvoted', commentId: 'id-1', votes: 0 })
  await takenBack
  expect([...room.votes]).toEqual([])
  const again = room.upvote('id-1')
  reject(socket, 'own_upvote')
  await expect(again).rejects.toMatchObject({ code: 'own_upvote' })
  expect([...room.upvoted]).toEqual([])
})

test('a repeated upvote counts as given, and a refused one can be tried again', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1), comment(2)])
  const first = room.upvote('id-1')
  reject(socket, 'already_upvoted')
  await first
  const second = room.upvote('id-2')
  reject(socket, 'too_many_requests')
  await expect(second).rejects.toMatchObject({ code: 'too_many_requests' })
  expect([...room.upvoted]).toEqual(['id-1'])
})

test('reactions are summed up, and no more are sent than the room counts', async () => {
  const room = await enter()
  const socket = confirmJoin([], { standing: { reactions: { clap: 10 } } })
  const received: unknown[] = []
  room.onReacted = (reacted) => received.push(reacted)
  expect(Array.from({ length: 7 }, () => room.react('clap'))).toEqual([true, true, true, true, true, false, false])
  expect(socket.countSent('pass')).toBe(5)
  socket.deliver({ t: 'passing', to: 'live/A', events: [{ k: 'reacted', clap: 5, lol: 2 }] })
  expect(room.reactions).toEqual({ clap: 15, aha: 0, lol: 2 })
  expect(received).toEqual([{ k: 'reacted', clap: 5, lol: 2 }])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(room.react('aha')).toBe(true)
})

test('a sender can take their comment back for a minute', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1)])
  const posting = room.post({ content: 'hello', nickname: '', id: 'id-2' })
  deliverEvents(socket, 0, { k: 'commented', comment: comment(2, 'hello') })
  reply(socket, comment(2, 'hello'))
  await posting
  expect(room.comments.map((own) => [room.isMine(own), room.canRetract(own)])).toEqual([[false, false], [true, true]])
  vi.setSystemTime(NOW + 60_000)
  expect(room.canRetract(comment(2))).toBe(false)
  vi.setSystemTime(NOW + 59_000)
  const retracting = room.retract('id-2')
  reply(socket, { k: 'gone', commentId: 'id-2', deleted: true })
  await retracting
  deliverEvents(socket, 1, { k: 'gone', commentId: 'id-2', deleted: true })
  expect(contents(room)).toEqual(['c1'])
})

test('a room that was closed during an outage shows the missed comments and ends', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1)])
  responses[urlAfter(1)] = [{ comments: [comment(2, 'bye')] }]
  const closedAt = '2026-11-16T09:00:00.000Z'
  responses['/api/live/rooms/A'] = [{ ...ROOM, status: 'CLOSED', closedAt }]
  socket.deliver({ t: 'gone', to: 'live/A', error: { code: 'room_closed', message: '', details: {} } })
  await vi.waitFor(() => expect(room.state).toBe('closed'))
  expect(contents(room)).toEqual(['c1', 'bye'])
  expect(room.ready).toBe(false)
  await vi.waitFor(() => expect(room.info?.closedAt).toBe(closedAt))
})

test('a page that receives the closing of the room has everything and requests nothing', async () => {
  const room = await enter()
  const socket = confirmJoin([comment(1)])
  deliverEvents(socket, 0, commented(2), { k: 'closed' })
  await vi.waitFor(() => expect(room.state).toBe('closed'))
  expect(room.info?.closedAt).toBe(new Date(NOW).toISOString())
  expect(contents(room)).toEqual(['c1', 'c2'])
  expect(requested).toEqual(['/api/live/rooms/A'])
})

test('a closed room is read without a socket, the latest first', async () => {
  responses['/api/live/rooms/A'] = []
  responses['/api/live/rooms/A/standing'] = [{ votes: { 'id-9': 2 } }]
  responses[urlBefore('999999999999')] = [{ comments: [comment(8), comment(9)], more: true }]
  responses[urlBefore(seq(8))] = [{ comments: [comment(7)] }]
  const { LiveRoom } = await import('./room.svelte')
  responses['/api/live/rooms/A'] = [{ ...ROOM, status: 'CLOSED' }]
  const room = new LiveRoom('A')
  await room.enter()
  expect(room).toMatchObject({ state: 'closed', hasEarlier: true })
  expect(room.votes.get('id-9')).toBe(2)
  await room.loadEarlier()
  expect(contents(room)).toEqual(['c7', 'c8', 'c9'])
  expect(FakeSocket.opened).toEqual([])
})

test('a closed room whose comments cannot be fetched does not claim that there were none', async () => {
  const { LiveRoom } = await import('./room.svelte')
  responses['/api/live/rooms/A'] = [{ ...ROOM, status: 'CLOSED' }]
  const room = new LiveRoom('A')
  await room.enter()
  expect(room.state).toBe('failed')
})

test.each(['OPEN', 'CLOSED'] as const)('a room of status %s that could not be reached is entered when the server answers', async (status) => {
  const { LiveRoom } = await import('./room.svelte')
  const room = new LiveRoom('A')
  responses['/api/live/rooms/A'] = [OFFLINE, { ...ROOM, status }]
  responses['/healthz'] = [OFFLINE, {}]
  responses['/api/live/rooms/A/standing'] = [{}]
  responses['/api/live/rooms/A/comments?before=999999999999'] = [{ comments: [comment(1)], more: false }]
  await room.enter()
  expect(room.state).toBe('failed')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(requested.filter((url) => url === '/healthz')).toHaveLength(2)
  expect(room.state).toBe(status === 'OPEN' ? 'loading' : 'closed')
})

test('a missing room and an unreachable one have different states', async () => {
  const { LiveRoom } = await import('./room.svelte')
  const room = new LiveRoom('A')
  responses['/api/live/rooms/A'] = []
  await room.enter()
  expect(room.state).toBe('missing')
  responses['/api/live/rooms/A'] = [OFFLINE]
  await room.enter()
  expect(room.state).toBe('failed')
})

test('the time left to take a comment back is never more than a minute, and shown in steps', async () => {
  const { retractSeconds } = await import('./room.svelte')
  expect([60_004, 60_000, 50_001, 50_000, 9_000, 0, -5].map(retractSeconds)).toEqual([60, 60, 60, 50, 10, 10, 10])
})
