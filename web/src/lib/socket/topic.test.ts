import { expect, test, vi } from 'vitest'
import { FakeSocket } from './fakeSocket'
import { deliverEvents, joinRoom, confirmJoin, useFakeServer } from './fixtures'

useFakeServer()

test('events are told in order and once', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 10, ['a', 'b'])
  deliverEvents(socket, 10, ['a', 'b'])
  deliverEvents(socket, 9, ['z'])
  deliverEvents(socket, 12, ['c'])
  expect(received.events).toEqual(['a', 'b', 'c'])
  expect(socket.countSent('join')).toBe(1)
})

test('events of others move the place without being told', () => {
  const { received, socket } = joinRoom()
  socket.deliver({ t: 'events', to: 'live/A', epoch: 3, after: 10, seq: 14, events: [] })
  deliverEvents(socket, 14, ['a'])
  expect(received.events).toEqual(['a'])
})

test('after a gap the page joins anew after the last event that it has', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 10, ['a'])
  deliverEvents(socket, 12, ['c'])
  expect(socket.lastSent('join')).toMatchObject({ at: { epoch: 3, seq: 11 } })
  expect(received.events).toEqual(['a'])
  deliverEvents(socket, 13, ['d'])
  confirmJoin(socket, { at: { epoch: 3, seq: 14 } })
  deliverEvents(socket, 11, ['b', 'c', 'd'])
  expect(received.events).toEqual(['a', 'b', 'c', 'd'])
})

test('a second gap in a row begins afresh', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 12, ['c'])
  confirmJoin(socket, { at: { epoch: 3, seq: 13 } })
  deliverEvents(socket, 12, ['c'])
  expect(socket.lastSent('join')).not.toHaveProperty('at')
  confirmJoin(socket, { at: { epoch: 3, seq: 13 }, snapshot: 'fresh' })
  deliverEvents(socket, 13, ['d'])
  expect(received).toMatchObject({ snapshots: [{ name: 'room' }, 'fresh'], events: ['d'] })
})

test('events that overlap with what the page has are asked for anew, not told twice', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 9, ['z', 'a'])
  expect(received.events).toEqual([])
  expect(socket.lastSent('join')).toMatchObject({ at: { epoch: 3, seq: 10 } })
})

test('another epoch is only believed with a snapshot', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 10, ['x'], 4)
  expect(received.events).toEqual([])
  confirmJoin(socket, { at: { epoch: 4, seq: 2 }, snapshot: 'next owner' })
  deliverEvents(socket, 2, ['y'], 4)
  expect(received.events).toEqual(['y'])
})

test('a room that resumes in another epoch without a snapshot is joined afresh', () => {
  const { socket } = joinRoom()
  socket.disconnect()
  vi.advanceTimersByTime(500)
  const next = FakeSocket.last.welcome()
  confirmJoin(next, { at: { epoch: 4, seq: 0 } })
  expect(next.countSent('join')).toBe(2)
  expect(next.lastSent('join')).not.toHaveProperty('at')
})

test('a snapshot in between replaces what was known, and events go on after it', () => {
  const { received, socket } = joinRoom()
  socket.deliver({ t: 'snapshot', to: 'live/A', at: { epoch: 5, seq: 100 }, snapshot: 'later' })
  deliverEvents(socket, 100, ['a'], 5)
  expect(received).toMatchObject({ snapshots: [{ name: 'room' }, 'later'], events: ['a'] })
})

test('a page that fails at one event does not keep others from theirs', () => {
  const reported = vi.fn()
  vi.stubGlobal('reportError', reported)
  const { socket } = joinRoom({ onEvents: () => { throw new Error('page') } })
  deliverEvents(socket, 10, ['a'])
  deliverEvents(socket, 11, ['b'])
  expect(reported).toHaveBeenCalledTimes(2)
  expect(socket.countSent('join')).toBe(1)
})
