import { expect, test, vi } from 'vitest'
import { FakeSocket } from './fakeSocket'
import { deliverEvents, joinRoom, confirmJoin, useFakeServer } from './fixtures'

useFakeServer()

test('events are delivered in order and once', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 10, ['a', 'b'])
  deliverEvents(socket, 10, ['a', 'b'])
  deliverEvents(socket, 9, ['z'])
  deliverEvents(socket, 12, ['c'])
  expect(received.events).toEqual(['a', 'b', 'c'])
  expect(socket.countSent('join')).toBe(1)
})

test('events for others advance the position without being delivered', () => {
  const { received, socket } = joinRoom()
  socket.deliver({ t: 'events', to: 'live/A', epoch: 3, after: 10, seq: 14, events: [] })
  deliverEvents(socket, 14, ['a'])
  expect(received.events).toEqual(['a'])
})

test('after a gap the topic is joined again from the last event', () => {
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

test('a second gap in a row joins without a position', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 12, ['c'])
  confirmJoin(socket, { at: { epoch: 3, seq: 13 } })
  deliverEvents(socket, 12, ['c'])
  expect(socket.lastSent('join')).not.toHaveProperty('at')
  confirmJoin(socket, { at: { epoch: 3, seq: 13 }, snapshot: 'fresh' })
  deliverEvents(socket, 13, ['d'])
  expect(received).toMatchObject({ snapshots: [{ name: 'room' }, 'fresh'], events: ['d'] })
})

test('overlapping events are requested again, not delivered twice', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 9, ['z', 'a'])
  expect(received.events).toEqual([])
  expect(socket.lastSent('join')).toMatchObject({ at: { epoch: 3, seq: 10 } })
})

test('events of another epoch are ignored until a snapshot', () => {
  const { received, socket } = joinRoom()
  deliverEvents(socket, 10, ['x'], 4)
  expect(received.events).toEqual([])
  confirmJoin(socket, { at: { epoch: 4, seq: 2 }, snapshot: 'next owner' })
  deliverEvents(socket, 2, ['y'], 4)
  expect(received.events).toEqual(['y'])
})

test('a room that resumes in another epoch without a snapshot is joined without a position', () => {
  const { socket } = joinRoom()
  socket.disconnect()
  vi.advanceTimersByTime(500)
  const next = FakeSocket.last.welcome()
  confirmJoin(next, { at: { epoch: 4, seq: 0 } })
  expect(next.countSent('join')).toBe(2)
  expect(next.lastSent('join')).not.toHaveProperty('at')
})

test('a snapshot moves the position, and later events follow it', () => {
  const { received, socket } = joinRoom()
  socket.deliver({ t: 'snapshot', to: 'live/A', at: { epoch: 5, seq: 100 }, snapshot: 'later' })
  deliverEvents(socket, 100, ['a'], 5)
  expect(received).toMatchObject({ snapshots: [{ name: 'room' }, 'later'], events: ['a'] })
})

test('a listener that throws does not stop later events', () => {
  const reported = vi.fn()
  vi.stubGlobal('reportError', reported)
  const { socket } = joinRoom({ onEvents: () => { throw new Error('page') } })
  deliverEvents(socket, 10, ['a'])
  deliverEvents(socket, 11, ['b'])
  expect(reported).toHaveBeenCalledTimes(2)
  expect(socket.countSent('join')).toBe(1)
})
