/** Shared by the tests of sockets: a page whose server is played by the test. */

import { afterEach, beforeEach, vi } from 'vitest'
import { Connection, type Phase, type Subscription } from './connection'
import { FakeSocket } from './fakeSocket'
import type { Handlers } from './topic'

/** Everything that a page's handlers were called with. */
export interface Received {
  snapshots: unknown[]
  events: unknown[]
  ready: boolean[]
  ended: string[]
  missed: number
  here: number[]
}

/** The page of the running test: its connection, and the phases that it went through. */
export const page: { connection: Connection; phases: Phase[] } = { connection: new Connection(() => ''), phases: [] }

/** Before each test of a file: a new page, fake sockets, a stopped clock, and no randomness. */
export function useFakeServer(): void {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000_000 })
    vi.stubGlobal('WebSocket', FakeSocket)
    vi.spyOn(Math, 'random').mockReturnValue(1)
    FakeSocket.opened = []
    page.phases = []
    page.connection = new Connection(() => 'ws://table/socket', (phase) => page.phases.push(phase))
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })
}

export function subscribe(name = 'live/A', more: Handlers = {}): { received: Received; subscription: Subscription } {
  const received: Received = { snapshots: [], events: [], ready: [], ended: [], missed: 0, here: [] }
  const subscription = page.connection.subscribe(name, {
    onSnapshot: (snapshot) => received.snapshots.push(snapshot),
    onEvents: (events) => received.events.push(...events),
    onReady: (ready) => received.ready.push(ready),
    onEnded: (error) => received.ended.push(error.code),
    onMissed: () => (received.missed += 1),
    onPresence: (here) => received.here.push(here),
    ...more,
  })
  return { received, subscription }
}

/** A page that joined a room at (3, 10). */
export function joinRoom(more: Handlers = {}): { received: Received; subscription: Subscription; socket: FakeSocket } {
  const { received, subscription } = subscribe('live/A', more)
  const socket = FakeSocket.last.welcome()
  confirmJoin(socket, { at: { epoch: 3, seq: 10 }, snapshot: { name: 'room' } })
  return { received, subscription, socket }
}

export function confirmJoin(socket: FakeSocket, rest: object = {}): void {
  socket.deliver({ t: 'joined', id: socket.lastSent('join').id, to: socket.lastSent('join').to, channel: 7, ...rest })
}

export function deliverEvents(socket: FakeSocket, after: number, events: unknown[], epoch = 3): void {
  socket.deliver({ t: 'events', to: 'live/A', epoch, after, seq: after + events.length, events })
}
