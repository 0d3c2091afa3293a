/** What the tests of sockets share: a page whose server is played by the test. */

import { afterEach, beforeEach, vi } from 'vitest'
import { Connection, type Handle, type Phase } from './connection'
import { ScriptedSocket } from './fakeSocket'
import type { Handlers } from './topic'

export interface Heard {
  snapshots: unknown[]
  events: unknown[]
  ready: boolean[]
  gone: string[]
  missed: number
  here: number[]
}

/** The page of the running test: its connection, and the phases that it went through. */
export const page: { connection: Connection; phases: Phase[] } = { connection: new Connection(() => ''), phases: [] }

/** Before each test of a file a new page, sockets that are scripted, a clock that stands, and no chance. */
export function setStage(): void {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000_000 })
    vi.stubGlobal('WebSocket', ScriptedSocket)
    vi.spyOn(Math, 'random').mockReturnValue(1)
    ScriptedSocket.opened = []
    page.phases = []
    page.connection = new Connection(() => 'ws://table/socket', (phase) => page.phases.push(phase))
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })
}

export function hear(name = 'live/A', more: Handlers = {}): { heard: Heard; handle: Handle } {
  const heard: Heard = { snapshots: [], events: [], ready: [], gone: [], missed: 0, here: [] }
  const handle = page.connection.hear(name, {
    onSnapshot: (snapshot) => heard.snapshots.push(snapshot),
    onEvents: (events) => heard.events.push(...events),
    onReady: (ready) => heard.ready.push(ready),
    onGone: (error) => heard.gone.push(error.code),
    onMissed: () => (heard.missed += 1),
    onPresence: (here) => heard.here.push(here),
    ...more,
  })
  return { heard, handle }
}

/** A page in a room at (3, 10). */
export function inRoom(more: Handlers = {}): { heard: Heard; handle: Handle; socket: ScriptedSocket } {
  const { heard, handle } = hear('live/A', more)
  const socket = ScriptedSocket.last.welcome()
  joined(socket, { at: { epoch: 3, seq: 10 }, snapshot: { name: 'room' } })
  return { heard, handle, socket }
}

export function joined(socket: ScriptedSocket, rest: object = {}): void {
  socket.says({ t: 'joined', id: socket.heard('join').id, to: socket.heard('join').to, channel: 7, ...rest })
}

export function happens(socket: ScriptedSocket, after: number, events: unknown[], epoch = 3): void {
  socket.says({ t: 'events', to: 'live/A', epoch, after, seq: after + events.length, events })
}
