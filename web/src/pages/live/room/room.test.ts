import { expect, test, vi } from 'vitest'
import type { LiveEvent } from '../../../generated'
import { ScriptedSocket } from '../../../lib/socket/fakeSocket'
import { A_ROOM, answer, answers, asked, comment, contents, enter, happens, lose, NOW, refuse, resume, said, seq, setStage, sit } from './fixtures'

setStage()

const after = (place: number): string => `/api/live/rooms/A/comments?after=${seq(place)}`
const before = (place: string): string => `/api/live/rooms/A/comments?before=${place}`
const AWAY = new TypeError('away')

test('what was said is shown in order and once', async () => {
  const room = await enter()
  const socket = sit([comment(1), comment(2)], { earlier: true })
  happens(socket, 0, said(3))
  happens(socket, 0, said(3))
  expect(contents(room)).toEqual(['c1', 'c2', 'c3'])
  expect(room).toMatchObject({ state: 'open', here: 2, isHost: false, earlier: true, ready: true })
})

test('who was away resumes after the last comment, and what came meanwhile is there once', async () => {
  const room = await enter()
  const socket = sit([comment(1)])
  happens(socket, 0, said(2))
  await lose(socket)
  const next = resume(1, said(3), said(4))
  expect(next.heard('join')).toMatchObject({ at: { epoch: 1, seq: 1 }, since: seq(2) })
  happens(next, 1, said(3), said(4))
  expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4'])
})

test('what did not fit into a snapshot is fetched, and what is said meanwhile leaves no hole', async () => {
  const room = await enter()
  answers[after(1)] = [{ comments: [comment(2), comment(3)], more: true }]
  answers[after(3)] = [{ comments: [comment(4)] }]
  const socket = sit([comment(1)], { more: true })
  happens(socket, 0, said(5))
  expect(contents(room)).toEqual(['c1'])
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']))
})

test('a hole that cannot be fetched is tried again, and nothing is shown beyond it', async () => {
  const room = await enter()
  answers[after(1)] = [AWAY, { comments: [comment(2)] }]
  const socket = sit([comment(1)], { more: true })
  happens(socket, 0, said(3))
  await vi.advanceTimersByTimeAsync(100)
  happens(socket, 1, said(4))
  expect(contents(room)).toEqual(['c1'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4'])
})

test('a room that comes anew with its latest comments alone is filled from the last one at hand', async () => {
  const room = await enter()
  const socket = sit([comment(1)])
  answers[after(1)] = [{ comments: [comment(2), comment(3)] }]
  socket.says({ t: 'snapshot', to: 'live/A', at: { epoch: 2, seq: 0 }, snapshot: { room: A_ROOM, comments: [comment(3), comment(4)], earlier: true } })
  expect(contents(room)).toEqual(['c1'])
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4']))
})

test('what the host hides goes, and comes back at its old place', async () => {
  const room = await enter()
  const socket = sit([comment(1), comment(2), comment(3)], { standing: { pinned: [comment(2)] } })
  happens(socket, 0, { k: 'gone', commentId: 'id-2' })
  expect(contents(room)).toEqual(['c1', 'c3'])
  expect(room.pinned).toEqual([])
  expect(room.hidden.size).toBe(0)
  happens(socket, 1, said(4), { k: 'back', comment: comment(2) })
  expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4'])
  expect(room.pinned).toEqual([comment(2)])
})

test('the last comment may go and come back without another being taken for it', async () => {
  const room = await enter()
  const socket = sit([comment(1), comment(2)])
  happens(socket, 0, { k: 'gone', commentId: 'id-2' })
  await lose(socket)
  expect(resume(1, { k: 'back', comment: comment(2) }, said(3)).heard('join').since).toBe(seq(2))
  expect(contents(room)).toEqual(['c1', 'c2', 'c3'])
})

test('a comment from before what is at hand stays away, even when it is shown again', async () => {
  const room = await enter()
  const socket = sit([comment(5)], { earlier: true, standing: { gone: ['id-2'] } })
  happens(socket, 0, { k: 'back', comment: comment(2) })
  expect(contents(room)).toEqual(['c5'])
  answers[before(seq(5))] = [{ comments: [comment(1), comment(2), comment(3), comment(4)] }]
  await room.loadEarlier()
  expect(contents(room)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  expect(room.earlier).toBe(false)
})

test('a snapshot after an absence takes away what is gone, and fetches what came back', async () => {
  const room = await enter()
  const socket = sit([comment(1), comment(3), comment(4)], { standing: { gone: ['id-2'], votes: { 'id-1': 3 }, answered: ['id-1'] } })
  await lose(socket)
  answers['/api/live/rooms/A/comments'] = [AWAY, { comments: [comment(1), comment(2), comment(4), comment(5)] }]
  sit([comment(5)], { standing: { gone: ['id-3'], votes: { 'id-4': 1 } } }, 2)
  expect(contents(room)).toEqual(['c1', 'c4', 'c5'])
  expect([...room.votes]).toEqual([['id-4', 1]])
  expect(room.answered.size).toBe(0)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(contents(room)).toEqual(['c1', 'c2', 'c4', 'c5'])
})

test('the host keeps seeing what is hidden, until it is deleted', async () => {
  answers['/api/live/rooms/A/comments'] = [{ comments: [comment(1), comment(2), comment(3)] }]
  const room = await enter({ mine: true })
  const socket = sit([comment(1), comment(3)], { standing: { gone: ['id-2'] } })
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1', 'c2', 'c3']))
  happens(socket, 0, { k: 'gone', commentId: 'id-3' })
  expect(contents(room)).toEqual(['c1', 'c2', 'c3'])
  expect([...room.hidden]).toEqual(['id-2', 'id-3'])
  happens(socket, 1, { k: 'gone', commentId: 'id-3', deleted: true })
  expect(contents(room)).toEqual(['c1', 'c2'])
  await lose(socket)
  answers['/api/live/rooms/A/comments'] = [{ comments: [comment(1)] }]
  sit([], { standing: { gone: ['id-2', 'id-3'] } }, 2)
  await vi.waitFor(() => expect(contents(room)).toEqual(['c1']))
})

test('pins come latest first, and marks follow what the host does', async () => {
  const room = await enter()
  const socket = sit([comment(1), comment(2)], { standing: { pinned: [comment(1)] } })
  const events: LiveEvent[] = [{ k: 'pinned', comment: comment(2) }, { k: 'answered', commentId: 'id-1', on: true }, { k: 'unpinned', commentId: 'id-1' }]
  happens(socket, 0, ...events.slice(0, 2))
  expect(room.pinned.map((pin) => pin.content)).toEqual(['c2', 'c1'])
  happens(socket, 2, events[2]!, { k: 'changed', room: { ...A_ROOM, paused: true, slowModeSeconds: 5 } })
  expect(room.pinned.map((pin) => pin.content)).toEqual(['c2'])
  expect([...room.answered]).toEqual(['id-1'])
  expect(room.room).toMatchObject({ paused: true, slowModeSeconds: 5, mine: false })
})

test('an upvote counts once, is remembered by this browser, and never counts backwards', async () => {
  const room = await enter()
  const socket = sit([comment(1)], { standing: { votes: { 'id-1': 3 } } })
  const done = room.upvote('id-1')
  await room.upvote('id-1')
  expect(socket.count('do')).toBe(1)
  happens(socket, 0, { k: 'upvoted', commentId: 'id-1', votes: 5 })
  answer(socket, { k: 'upvoted', commentId: 'id-1', votes: 4 })
  await done
  expect(room.votes.get('id-1')).toBe(5)
  expect([...(await enter()).upvoted]).toEqual(['id-1'])
})

test('an upvote that was there before is fine, and one that was refused can be given again', async () => {
  const room = await enter()
  const socket = sit([comment(1), comment(2)])
  const first = room.upvote('id-1')
  refuse(socket, 'already_upvoted')
  await first
  const second = room.upvote('id-2')
  refuse(socket, 'too_many_requests')
  await expect(second).rejects.toMatchObject({ code: 'too_many_requests' })
  expect([...room.upvoted]).toEqual(['id-1'])
})

test('reactions are summed up, and no more are sent than the room counts', async () => {
  const room = await enter()
  const socket = sit([], { standing: { reactions: { clap: 10 } } })
  const heard: unknown[] = []
  room.onReacted = (reacted) => heard.push(reacted)
  expect(Array.from({ length: 7 }, () => room.react('clap'))).toEqual([true, true, true, true, true, false, false])
  expect(socket.count('pass')).toBe(5)
  socket.says({ t: 'passing', to: 'live/A', events: [{ k: 'reacted', clap: 5, lol: 2 }] })
  expect(room.reactions).toEqual({ clap: 15, aha: 0, lol: 2 })
  expect(heard).toEqual([{ k: 'reacted', clap: 5, lol: 2 }])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(room.react('aha')).toBe(true)
})

test('one’s own comment can be taken back for a minute', async () => {
  const room = await enter()
  const socket = sit([comment(1)])
  const saying = room.say({ content: 'hello', nickname: '', id: 'id-2' })
  happens(socket, 0, { k: 'commented', comment: comment(2, 'hello') })
  answer(socket, comment(2, 'hello'))
  await saying
  expect(room.comments.map((one) => [room.isMine(one), room.canTakeBack(one)])).toEqual([[false, false], [true, true]])
  vi.setSystemTime(NOW + 60_000)
  expect(room.canTakeBack(comment(2))).toBe(false)
  vi.setSystemTime(NOW + 59_000)
  const back = room.takeBack('id-2')
  answer(socket, { k: 'gone', commentId: 'id-2', deleted: true })
  await back
  happens(socket, 1, { k: 'gone', commentId: 'id-2', deleted: true })
  expect(contents(room)).toEqual(['c1'])
})

test('a room that was closed while nobody was connected shows the rest and ends', async () => {
  const room = await enter()
  const socket = sit([comment(1)])
  answers[after(1)] = [{ comments: [comment(2, 'bye')] }]
  const closedAt = '2026-11-16T09:00:00.000Z'
  answers['/api/live/rooms/A'] = [{ ...A_ROOM, status: 'CLOSED', closedAt }]
  socket.says({ t: 'gone', to: 'live/A', error: { code: 'room_closed', message: '', details: {} } })
  await vi.waitFor(() => expect(room.state).toBe('closed'))
  expect(contents(room)).toEqual(['c1', 'bye'])
  expect(room.ready).toBe(false)
  await vi.waitFor(() => expect(room.room?.closedAt).toBe(closedAt))
})

test('who hears that the room closes has all of it, and thousands of phones ask for nothing', async () => {
  const room = await enter()
  const socket = sit([comment(1)])
  happens(socket, 0, said(2), { k: 'closed' })
  await vi.waitFor(() => expect(room.state).toBe('closed'))
  expect(room.room?.closedAt).toBe(new Date(NOW).toISOString())
  expect(contents(room)).toEqual(['c1', 'c2'])
  expect(asked).toEqual(['/api/live/rooms/A'])
})

test('a closed room is read without a socket, the latest first', async () => {
  answers['/api/live/rooms/A'] = []
  answers['/api/live/rooms/A/standing'] = [{ votes: { 'id-9': 2 } }]
  answers[before('999999999999')] = [{ comments: [comment(8), comment(9)], more: true }]
  answers[before(seq(8))] = [{ comments: [comment(7)] }]
  const { LiveRoom } = await import('./room.svelte')
  answers['/api/live/rooms/A'] = [{ ...A_ROOM, status: 'CLOSED' }]
  const room = new LiveRoom('A')
  await room.enter()
  expect(room).toMatchObject({ state: 'closed', earlier: true })
  expect(room.votes.get('id-9')).toBe(2)
  await room.loadEarlier()
  expect(contents(room)).toEqual(['c7', 'c8', 'c9'])
  expect(ScriptedSocket.opened).toEqual([])
})

test('a closed room whose comments cannot be fetched does not claim that there were none', async () => {
  const { LiveRoom } = await import('./room.svelte')
  answers['/api/live/rooms/A'] = [{ ...A_ROOM, status: 'CLOSED' }]
  const room = new LiveRoom('A')
  await room.enter()
  expect(room.state).toBe('failed')
})

test('a room that is not there is told apart from one that cannot be reached', async () => {
  const { LiveRoom } = await import('./room.svelte')
  const room = new LiveRoom('A')
  answers['/api/live/rooms/A'] = []
  await room.enter()
  expect(room.state).toBe('missing')
  answers['/api/live/rooms/A'] = [AWAY]
  await room.enter()
  expect(room.state).toBe('failed')
})
