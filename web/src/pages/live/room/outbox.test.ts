import { expect, test, vi } from 'vitest'
import { ScriptedSocket } from '../../../lib/socket/fakeSocket'
import type { LiveRoom } from './room.svelte'
import { answer, comment, contents, enter, happens, lose, refuse, resume, setStage, sit } from './fixtures'

setStage()

const HELLO = { content: 'hello', nickname: 'Ada', id: 'id-2' }
const SENT = { k: 'comment', content: 'hello', nickname: 'Ada', id: 'id-2' }
const STORED = comment(2, 'hello')

/** Somebody says hello, and the socket breaks before the answer. */
async function lostAnswer(): Promise<{ room: LiveRoom; saying: Promise<void> }> {
  const room = await enter()
  const socket = sit([comment(1)])
  const saying = room.say(HELLO)
  expect(socket.heard('do').what).toEqual(SENT)
  await lose(socket)
  return { room, saying }
}

test('a comment whose answer was lost is sent again under its id, and is one comment', async () => {
  const { room, saying } = await lostAnswer()
  expect(room.sendingAgain).toBe(true)
  const socket = resume(0)
  await vi.waitFor(() => expect(socket.heard('do').what).toEqual(SENT))
  happens(socket, 0, { k: 'commented', comment: STORED })
  answer(socket, STORED)
  await saying
  expect(contents(room)).toEqual(['c1', 'hello'])
  expect(room.isMine(STORED)).toBe(true)
  expect(room.sendingAgain).toBe(false)
})

test('a comment that is found in the room is not sent again', async () => {
  const { room, saying } = await lostAnswer()
  const socket = sit([STORED], {}, 2)
  await saying
  expect(socket.count('do')).toBe(0)
  expect(contents(room)).toEqual(['c1', 'hello'])
})

test('what the room says about sending again does not count for what is in it', async () => {
  const { room, saying } = await lostAnswer()
  const socket = resume(0)
  await vi.waitFor(() => expect(socket.count('do')).toBe(1))
  happens(socket, 0, { k: 'commented', comment: STORED })
  refuse(socket, 'slow_mode', { retry_after: 30 })
  await saying
  expect(contents(room)).toEqual(['c1', 'hello'])
})

test('a comment that was deleted before its answer came has been said', async () => {
  const { saying } = await lostAnswer()
  const socket = resume(0)
  await vi.waitFor(() => expect(socket.count('do')).toBe(1))
  refuse(socket, 'deleted')
  await saying
})

test('when nobody knows, it is tried a few times and then told', async () => {
  const room = await enter()
  const socket = sit([])
  const saying = room.say(HELLO)
  const told = expect(saying).rejects.toMatchObject({ code: 'unsettled' })
  for (let tries = 1; tries <= 5; tries++) {
    await vi.waitFor(() => expect(socket.count('do')).toBe(tries))
    refuse(socket, 'unsettled')
    await vi.advanceTimersByTimeAsync(5_000)
  }
  await told
  expect(socket.count('do')).toBe(5)
  expect(room.sendingAgain).toBe(false)
})

test('what is refused is told at once and not sent again', async () => {
  const room = await enter()
  const socket = sit([])
  for (const code of ['paused', 'slow_mode', 'blocked', 'blocked_word', 'too_many_requests', 'invalid', 'id_taken', 'deleted']) {
    const saying = room.say({ ...HELLO, id: code })
    refuse(socket, code)
    await expect(saying).rejects.toMatchObject({ code })
  }
  expect(socket.count('do')).toBe(8)
})

test('what never left is for whoever wrote it', async () => {
  const room = await enter()
  await expect(room.say(HELLO)).rejects.toMatchObject({ code: 'offline' })
  ScriptedSocket.last.welcome()
  expect(ScriptedSocket.last.count('do')).toBe(0)
})

test('a room that ends while a comment is on its way does not keep it waiting', async () => {
  const { room, saying } = await lostAnswer()
  const told = expect(saying).rejects.toMatchObject({ code: 'unsettled' })
  const socket = ScriptedSocket.last.welcome()
  socket.says({ t: 'refused', id: socket.heard('join').id, error: { code: 'room_closed', message: '', details: {} } })
  await told
  await vi.waitFor(() => expect(room.state).toBe('closed'))
})
