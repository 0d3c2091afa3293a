/** The page's one socket connection, and its reactive phase. */

import { Connection, type Phase, type Subscription } from './socket/connection'
import type { Handlers } from './socket/topic'

export { CommandRejected, NoReply } from './socket/pendingCommands'
export type { Phase, Subscription } from './socket/connection'
export type { Problem } from '../generated'
export type { Handlers } from './socket/topic'

let phase = $state<Phase>('idle')

const socket = new Connection(
  () => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/socket`,
  (now) => (phase = now),
)

let offline = $state(false)

/** `connection.phase` is `idle`, `connecting`, `open` or `lost`; `isOffline` says that the browser knows the reason. */
export const connection = {
  get phase(): Phase {
    return phase
  },
  get isOffline(): boolean {
    return offline
  },
}

/** Subscribe to a topic such as `live/ROOM_ID`, until `leave` is called. */
export function joinTopic<S, E, C = unknown, R = unknown>(topic: string, handlers: Handlers<S, E>): Subscription<C, R> {
  return socket.subscribe<S, E, C, R>(topic, handlers)
}

/** The server's time in milliseconds. */
export function serverNow(): number {
  return Date.now() + socket.clock.offset
}

/** Reconnect as another caller, after signing in or out. */
export function reconnectSocket(): void {
  socket.reconnect()
}

const wake = (): void => {
  if (document.visibilityState === 'visible') socket.wake()
}
document.addEventListener('visibilitychange', wake)
addEventListener('online', () => {
  offline = false
  wake()
})
addEventListener('offline', () => {
  offline = true
  socket.offline()
})
addEventListener('pageshow', wake)
