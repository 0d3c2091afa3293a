import { beforeEach, expect, test, vi } from 'vitest'
import type { LiveCommentView, LiveSnapshot } from '../generated'
import { FakeSocket } from '../lib/socket/fakeSocket'
import { deliverEvents, confirmJoin, page, useFakeServer } from '../lib/socket/fixtures'
import { RoomFeed } from './roomFeed'

useFakeServer()

let calls: string[] = []

beforeEach(() => {
  calls = []
})

function comment(n: number, ageMs = 0): LiveCommentView {
  const createdAt = new Date(Date.now() - ageMs).toISOString()
  return { commentId: `c${n}`, seq: String(n).padStart(12, '0'), content: `text ${n}`, nickname: 'Anonymous', createdAt }
}

function snapshot(comments: LiveCommentView[], fields: Partial<LiveSnapshot> = {}): LiveSnapshot {
  return { room: { roomId: 'A', name: 'Types', status: 'OPEN', createdAt: '' }, comments, ...fields }
}

/** A feed that has joined the room; its listener's calls are recorded. */
function join(first = snapshot([comment(1), comment(2)])): FakeSocket {
  new RoomFeed(page.connection, 'A', {
    commented: ({ commentId }) => calls.push(`commented ${commentId}`),
    removed: (id) => calls.push(`removed ${id}`),
    pinned: (comment) => calls.push(`pinned ${comment?.commentId ?? 'nothing'}`),
    reacted: ({ clap }) => calls.push(`clap ${clap}`),
    roomChanged: ({ code }) => calls.push(`room ${code ?? ''}`),
    closed: () => calls.push('closed'),
    missing: () => calls.push('missing'),
  })
  const socket = FakeSocket.last.welcome()
  // A screen is no person in the room.
  expect(socket.sent.at(-1)).toMatchObject({ t: 'join', observer: true })
  confirmJoin(socket, { at: { epoch: 3, seq: 10 }, snapshot: first })
  calls = []
  return socket
}

/** The socket of a feed that reconnects after some milliseconds, with the given reply to its join. */
function reconnect(afterMs: number, joined: object): FakeSocket {
  FakeSocket.last.disconnect()
  vi.setSystemTime(Date.now() + afterMs - 1_000)
  vi.advanceTimersByTime(1_000)
  const socket = FakeSocket.last.welcome()
  confirmJoin(socket, joined)
  return socket
}

test('comments from before joining are not reported, new ones are, once', () => {
  const socket = join()
  deliverEvents(socket, 10, [{ k: 'commented', comment: comment(2) }, { k: 'commented', comment: comment(3) }])
  expect(calls).toEqual(['commented c3'])
})

test('after a short outage the missed comments are reported late', () => {
  join()
  const missed = comment(3)
  const socket = reconnect(9_000, { at: { epoch: 3, seq: 11 } })
  expect(socket.lastSent('join')).toMatchObject({ at: { epoch: 3, seq: 10 } })
  deliverEvents(socket, 10, [{ k: 'commented', comment: missed }])
  expect(calls).toEqual(['commented c3'])
})

test('after a long outage only the latest missed comments are reported, from events or a snapshot', () => {
  join()
  const socket = reconnect(60_000, { at: { epoch: 3, seq: 12 } })
  deliverEvents(socket, 10, [{ k: 'commented', comment: comment(3, 11_000) }, { k: 'commented', comment: comment(4, 9_000) }])
  expect(calls).toEqual(['commented c4'])
  calls = []
  const latest = [comment(4), comment(5, -49_000), comment(6, -51_000)]
  reconnect(60_000, { at: { epoch: 4, seq: 0 }, snapshot: snapshot(latest) })
  expect(calls).toEqual(['room ', 'pinned nothing', 'commented c6'])
})

test('the age of a comment is measured by the server’s clock', () => {
  join()
  FakeSocket.last.disconnect()
  vi.advanceTimersByTime(500)
  const ahead = Date.now() + 3_600_000
  const socket = FakeSocket.last.welcome(ahead)
  confirmJoin(socket, { at: { epoch: 3, seq: 12 } })
  deliverEvents(socket, 10, [{ k: 'commented', comment: comment(3, -3_500_000) }, { k: 'commented', comment: comment(4, -3_599_000) }])
  expect(calls).toEqual(['commented c4'])
})

test('a removed comment is reported at once, and one removed during an outage after reconnecting', () => {
  const socket = join()
  deliverEvents(socket, 10, [{ k: 'gone', commentId: 'c2', deleted: true }])
  expect(calls).toContain('removed c2')
  calls = []
  reconnect(5_000, { at: { epoch: 4, seq: 0 }, snapshot: snapshot([], { standing: { gone: ['c1', 'c2'] } }) })
  expect(calls.filter((call) => call.startsWith('removed'))).toEqual(['removed c1', 'removed c2'])
})

test('the latest pin is reported, the one before it after unpinning, and none while it is hidden', () => {
  const socket = join(snapshot([comment(1), comment(2)], { standing: { pinned: [comment(1)] } }))
  deliverEvents(socket, 10, [
    { k: 'pinned', comment: comment(2) },
    { k: 'gone', commentId: 'c2' },
    { k: 'back', comment: comment(2) },
    { k: 'unpinned', commentId: 'c2' },
    { k: 'unpinned', commentId: 'c1' },
  ])
  expect(calls.filter((call) => call.startsWith('pinned'))).toEqual(['pinned c2', 'pinned c1', 'pinned c2', 'pinned c1', 'pinned nothing'])
})

test('reactions and changes of the room are reported', () => {
  const socket = join()
  socket.deliver({ t: 'passing', to: 'live/A', events: [{ k: 'reacted', clap: 4 }] })
  deliverEvents(socket, 10, [{ k: 'changed', room: { roomId: 'A', name: 'Types', status: 'OPEN', createdAt: '', code: '482159' } }])
  expect(calls).toEqual(['clap 4', 'room 482159'])
})

test('a closed room is reported once and never joined again', () => {
  const socket = join()
  deliverEvents(socket, 10, [{ k: 'closed' }])
  socket.deliver({ t: 'gone', to: 'live/A', error: { code: 'room_closed', message: '', details: {} } })
  expect(calls).toEqual(['closed'])
  expect(socket.countSent('leave')).toBe(1)
  vi.advanceTimersByTime(60_000)
  expect(FakeSocket.opened).toHaveLength(1)
})

test('a missing room and a closed one are reported differently', () => {
  for (const [code, end] of [['not_found', 'missing'], ['room_closed', 'closed']] as const) {
    join(undefined)
    FakeSocket.last.deliver({ t: 'gone', to: 'live/A', error: { code, message: '', details: {} } })
    expect(calls).toEqual([end])
  }
})
