import { expect, test, vi } from 'vitest'
import { FakeSocket } from '../../../lib/socket/fakeSocket'
import type { LiveRoom } from './room.svelte'
import { comment, confirmJoin, contents, deliverEvents, disconnect, enter, reject, reply, resume, useFakeServer } from './fixtures'

useFakeServer()

const HELLO = { content: 'hello', nickname: 'Ada', id: 'id-2' }
const SENT = { k: 'comment', content: 'hello', nickname: 'Ada', id: 'id-2' }
const STORED = comment(2, 'hello')

/** A comment is sent, and the socket disconnects before the reply. */
async function lostReply(): Promise<{ room: LiveRoom; posting: Promise<void> }> {
  const room = await enter()
  const socket = confirmJoin([comment(1)])
  const posting = room.post(HELLO)
  expect(socket.lastSent('do').what).toEqual(SENT)
  await disconnect(socket)
  return { room, posting }
}

test('a comment whose reply was lost is sent again under its id, and is one comment', async () => {
  const { room, posting } = await lostReply()
  expect(room.isRetrying).toBe(true)
  const socket = resume(0)
  await vi.waitFor(() => expect(socket.lastSent('do').what).toEqual(SENT))
  deliverEvents(socket, 0, { k: 'commented', comment: STORED })
  reply(socket, STORED)
  await posting
  expect(contents(room)).toEqual(['c1', 'hello'])
  expect(room.isMine(STORED)).toBe(true)
  expect(room.isRetrying).toBe(false)
})

test('a comment that is found in the room is not sent again', async () => {
  const { room, posting } = await lostReply()
  const socket = confirmJoin([STORED], {}, 2)
  await posting
  expect(socket.countSent('do')).toBe(0)
  expect(contents(room)).toEqual(['c1', 'hello'])
})

test('an error of a repetition does not count when the comment is in the room', async () => {
  const { room, posting } = await lostReply()
  const socket = resume(0)
  await vi.waitFor(() => expect(socket.countSent('do')).toBe(1))
  deliverEvents(socket, 0, { k: 'commented', comment: STORED })
  reject(socket, 'slow_mode', { retry_after: 30 })
  await posting
  expect(contents(room)).toEqual(['c1', 'hello'])
})

test('a comment that was deleted before its reply came was posted', async () => {
  const { posting } = await lostReply()
  const socket = resume(0)
  await vi.waitFor(() => expect(socket.countSent('do')).toBe(1))
  reject(socket, 'deleted')
  await posting
})

test('while the outcome is unknown, it is tried a few times and then reported', async () => {
  const room = await enter()
  const socket = confirmJoin([])
  const posting = room.post(HELLO)
  const rejection = expect(posting).rejects.toMatchObject({ code: 'unsettled' })
  for (let tries = 1; tries <= 5; tries++) {
    await vi.waitFor(() => expect(socket.countSent('do')).toBe(tries))
    reject(socket, 'unsettled')
    await vi.advanceTimersByTimeAsync(5_000)
  }
  await rejection
  expect(socket.countSent('do')).toBe(5)
  expect(room.isRetrying).toBe(false)
})

test('a rejected comment is reported at once and not sent again', async () => {
  const room = await enter()
  const socket = confirmJoin([])
  for (const code of ['paused', 'slow_mode', 'blocked', 'blocked_word', 'too_many_requests', 'invalid', 'id_taken', 'deleted']) {
    const posting = room.post({ ...HELLO, id: code })
    reject(socket, code)
    await expect(posting).rejects.toMatchObject({ code })
  }
  expect(socket.countSent('do')).toBe(8)
})

test('a comment that was never sent is reported at once', async () => {
  const room = await enter()
  await expect(room.post(HELLO)).rejects.toMatchObject({ code: 'offline' })
  FakeSocket.last.welcome()
  expect(FakeSocket.last.countSent('do')).toBe(0)
})

test('a room that closes while a comment is being sent does not keep it waiting', async () => {
  const { room, posting } = await lostReply()
  const rejection = expect(posting).rejects.toMatchObject({ code: 'unsettled' })
  const socket = FakeSocket.last.welcome()
  socket.deliver({ t: 'refused', id: socket.lastSent('join').id, error: { code: 'room_closed', message: '', details: {} } })
  await rejection
  await vi.waitFor(() => expect(room.state).toBe('closed'))
})

test('the cooldown is counted by the clock, including the time that a phone slept', async () => {
  const { Cooldown } = await import('./outbox.svelte')
  const cooldown = new Cooldown()
  cooldown.start(30)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(cooldown.secondsLeft).toBe(29)
  vi.setSystemTime(Date.now() + 25_000)
  await vi.advanceTimersByTimeAsync(250)
  expect(cooldown.secondsLeft).toBe(4)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(cooldown.secondsLeft).toBe(0)
  cooldown.start(3)
  cooldown.stop()
  expect(cooldown.secondsLeft).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('an id is a unique UUID of version 4 in lower case', async () => {
  const { newCommentId } = await import('./outbox.svelte')
  const ids = Array.from({ length: 50 }, newCommentId)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(50)
})
