import { beforeEach, expect, test, vi } from 'vitest'
import type { LiveCommentView, LiveSnapshot } from '../generated'
import { ScriptedSocket } from '../lib/socket/fakeSocket'
import { happens, joined, page, setStage } from '../lib/socket/fixtures'
import { Hearing } from './roomFeed'

setStage()

let told: string[] = []

beforeEach(() => {
  told = []
})

function comment(n: number, ageMs = 0): LiveCommentView {
  const createdAt = new Date(Date.now() - ageMs).toISOString()
  return { commentId: `c${n}`, seq: String(n).padStart(12, '0'), content: `text ${n}`, nickname: 'Anonymous', createdAt }
}

function snapshot(comments: LiveCommentView[], rest: Partial<LiveSnapshot> = {}): LiveSnapshot {
  return { room: { roomId: 'A', name: 'Types', status: 'OPEN', createdAt: '' }, comments, ...rest }
}

/** An overlay that sits in the room; what it is told is written down. */
function enter(first = snapshot([comment(1), comment(2)])): ScriptedSocket {
  new Hearing(page.connection, 'A', {
    said: ({ commentId }) => told.push(`said ${commentId}`),
    gone: (id) => told.push(`gone ${id}`),
    pinned: (one) => told.push(`pinned ${one?.commentId ?? 'nothing'}`),
    reacted: ({ clap }) => told.push(`clap ${clap}`),
    room: ({ code }) => told.push(`room ${code ?? ''}`),
    closed: () => told.push('closed'),
    missing: () => told.push('missing'),
  })
  const socket = ScriptedSocket.last.welcome()
  joined(socket, { at: { epoch: 3, seq: 10 }, snapshot: first })
  told = []
  return socket
}

function comeBack(after: number, rest: object): ScriptedSocket {
  ScriptedSocket.last.breaks()
  vi.setSystemTime(Date.now() + after - 1_000)
  vi.advanceTimersByTime(1_000)
  const socket = ScriptedSocket.last.welcome()
  joined(socket, rest)
  return socket
}

test('what was said before is not told, what is said from now on is, once', () => {
  const socket = enter()
  happens(socket, 10, [{ k: 'commented', comment: comment(2) }, { k: 'commented', comment: comment(3) }])
  expect(told).toEqual(['said c3'])
})

test('after a short outage what was missed is told late', () => {
  enter()
  const missed = comment(3)
  const socket = comeBack(9_000, { at: { epoch: 3, seq: 11 } })
  expect(socket.heard('join')).toMatchObject({ at: { epoch: 3, seq: 10 } })
  happens(socket, 10, [{ k: 'commented', comment: missed }])
  expect(told).toEqual(['said c3'])
})

test('after a long outage only the latest of what was missed is told, by events or by a snapshot', () => {
  enter()
  const socket = comeBack(60_000, { at: { epoch: 3, seq: 12 } })
  happens(socket, 10, [{ k: 'commented', comment: comment(3, 11_000) }, { k: 'commented', comment: comment(4, 9_000) }])
  expect(told).toEqual(['said c4'])
  told = []
  const latest = [comment(4), comment(5, -49_000), comment(6, -51_000)]
  comeBack(60_000, { at: { epoch: 4, seq: 0 }, snapshot: snapshot(latest) })
  expect(told).toEqual(['room ', 'pinned nothing', 'said c6'])
})

test('the age of a comment is the server’s matter, whatever this machine’s clock says', () => {
  enter()
  ScriptedSocket.last.breaks()
  vi.advanceTimersByTime(500)
  const ahead = Date.now() + 3_600_000
  const socket = ScriptedSocket.last.welcome(ahead)
  joined(socket, { at: { epoch: 3, seq: 12 } })
  happens(socket, 10, [{ k: 'commented', comment: comment(3, -3_500_000) }, { k: 'commented', comment: comment(4, -3_599_000) }])
  expect(told).toEqual(['said c4'])
})

test('what is hidden, deleted or taken back is told at once, and what went during an outage on coming back', () => {
  const socket = enter()
  happens(socket, 10, [{ k: 'gone', commentId: 'c2', deleted: true }])
  expect(told).toContain('gone c2')
  told = []
  comeBack(5_000, { at: { epoch: 4, seq: 0 }, snapshot: snapshot([], { standing: { gone: ['c1', 'c2'] } }) })
  expect(told.filter((one) => one.startsWith('gone'))).toEqual(['gone c1', 'gone c2'])
})

test('the latest pin counts; without it the one before, and a hidden one not while it is hidden', () => {
  const socket = enter(snapshot([comment(1), comment(2)], { standing: { pinned: [comment(1)] } }))
  happens(socket, 10, [
    { k: 'pinned', comment: comment(2) },
    { k: 'gone', commentId: 'c2' },
    { k: 'back', comment: comment(2) },
    { k: 'unpinned', commentId: 'c2' },
    { k: 'unpinned', commentId: 'c1' },
  ])
  expect(told.filter((one) => one.startsWith('pinned'))).toEqual(['pinned c2', 'pinned c1', 'pinned c2', 'pinned c1', 'pinned nothing'])
})

test('reactions pass, and a changed room is told', () => {
  const socket = enter()
  socket.says({ t: 'passing', to: 'live/A', events: [{ k: 'reacted', clap: 4 }] })
  happens(socket, 10, [{ k: 'changed', room: { roomId: 'A', name: 'Types', status: 'OPEN', createdAt: '', code: '482159' } }])
  expect(told).toEqual(['clap 4', 'room 482159'])
})

test('a room that closes is left for good, however it is told', () => {
  const socket = enter()
  happens(socket, 10, [{ k: 'closed' }])
  socket.says({ t: 'gone', to: 'live/A', error: { code: 'room_closed', message: '', details: {} } })
  expect(told).toEqual(['closed'])
  expect(socket.count('leave')).toBe(1)
  vi.advanceTimersByTime(60_000)
  expect(ScriptedSocket.opened).toHaveLength(1)
})

test('a room that is not there is told apart from one that ended', () => {
  for (const [code, end] of [['not_found', 'missing'], ['room_closed', 'closed']] as const) {
    enter(undefined)
    ScriptedSocket.last.says({ t: 'gone', to: 'live/A', error: { code, message: '', details: {} } })
    expect(told).toEqual([end])
  }
})
