import { expect, test, vi } from 'vitest'
import { ScriptedSocket } from './fakeSocket'
import { happens, inRoom, joined, setStage } from './fixtures'

setStage()

test('events are told in order and once', () => {
  const { heard, socket } = inRoom()
  happens(socket, 10, ['a', 'b'])
  happens(socket, 10, ['a', 'b'])
  happens(socket, 9, ['z'])
  happens(socket, 12, ['c'])
  expect(heard.events).toEqual(['a', 'b', 'c'])
  expect(socket.count('join')).toBe(1)
})

test('events of others move the place without being told', () => {
  const { heard, socket } = inRoom()
  socket.says({ t: 'events', to: 'live/A', epoch: 3, after: 10, seq: 14, events: [] })
  happens(socket, 14, ['a'])
  expect(heard.events).toEqual(['a'])
})

test('after a gap the page joins anew after the last event that it has', () => {
  const { heard, socket } = inRoom()
  happens(socket, 10, ['a'])
  happens(socket, 12, ['c'])
  expect(socket.heard('join')).toMatchObject({ at: { epoch: 3, seq: 11 } })
  expect(heard.events).toEqual(['a'])
  happens(socket, 13, ['d'])
  joined(socket, { at: { epoch: 3, seq: 14 } })
  happens(socket, 11, ['b', 'c', 'd'])
  expect(heard.events).toEqual(['a', 'b', 'c', 'd'])
})

test('a second gap in a row begins afresh', () => {
  const { heard, socket } = inRoom()
  happens(socket, 12, ['c'])
  joined(socket, { at: { epoch: 3, seq: 13 } })
  happens(socket, 12, ['c'])
  expect(socket.heard('join')).not.toHaveProperty('at')
  joined(socket, { at: { epoch: 3, seq: 13 }, snapshot: 'fresh' })
  happens(socket, 13, ['d'])
  expect(heard).toMatchObject({ snapshots: [{ name: 'room' }, 'fresh'], events: ['d'] })
})

test('events that overlap with what the page has are asked for anew, not told twice', () => {
  const { heard, socket } = inRoom()
  happens(socket, 9, ['z', 'a'])
  expect(heard.events).toEqual([])
  expect(socket.heard('join')).toMatchObject({ at: { epoch: 3, seq: 10 } })
})

test('another epoch is only believed with a snapshot', () => {
  const { heard, socket } = inRoom()
  happens(socket, 10, ['x'], 4)
  expect(heard.events).toEqual([])
  joined(socket, { at: { epoch: 4, seq: 2 }, snapshot: 'next owner' })
  happens(socket, 2, ['y'], 4)
  expect(heard.events).toEqual(['y'])
})

test('a room that resumes in another epoch without a snapshot is joined afresh', () => {
  const { socket } = inRoom()
  socket.breaks()
  vi.advanceTimersByTime(500)
  const next = ScriptedSocket.last.welcome()
  joined(next, { at: { epoch: 4, seq: 0 } })
  expect(next.count('join')).toBe(2)
  expect(next.heard('join')).not.toHaveProperty('at')
})

test('a snapshot in between replaces what was known, and events go on after it', () => {
  const { heard, socket } = inRoom()
  socket.says({ t: 'snapshot', to: 'live/A', at: { epoch: 5, seq: 100 }, snapshot: 'later' })
  happens(socket, 100, ['a'], 5)
  expect(heard).toMatchObject({ snapshots: [{ name: 'room' }, 'later'], events: ['a'] })
})

test('a page that fails at one event does not keep others from theirs', () => {
  const reported = vi.fn()
  vi.stubGlobal('reportError', reported)
  const { socket } = inRoom({ onEvents: () => { throw new Error('page') } })
  happens(socket, 10, ['a'])
  happens(socket, 11, ['b'])
  expect(reported).toHaveBeenCalledTimes(2)
  expect(socket.count('join')).toBe(1)
})
