/** The page's one socket, and how it is doing. */

import { Connection, type Handle, type Phase } from './socket/connection'
import type { Handlers } from './socket/topic'

export { Declined, Unanswered } from './socket/pendingCommands'
export type { Handle, Phase } from './socket/connection'
export type { Problem } from '../generated'
export type { Handlers } from './socket/topic'

let phase = $state<Phase>('idle')

const page = new Connection(
  () => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/socket`,
  (now) => (phase = now),
)

/** How the connection is: `connection.phase` is `idle`, `connecting`, `open` or `lost`. */
export const connection = {
  get phase(): Phase {
    return phase
  },
}

/** Hear a topic such as `live/ROOM_ID`, until `leave` is called. */
export function join<S, E, C = unknown, R = unknown>(topic: string, handlers: Handlers<S, E>): Handle<C, R> {
  return page.hear<S, E, C, R>(topic, handlers)
}

/** The server's time in milliseconds, for countdowns. */
export function serverNow(): number {
  return Date.now() + page.time.offset
}

/** Somebody else sits here now: everything is heard afresh. */
export function renewSocket(): void {
  page.renew()
}

const wake = (): void => {
  if (document.visibilityState === 'visible') page.wake()
}
document.addEventListener('visibilitychange', wake)
addEventListener('online', wake)
addEventListener('pageshow', wake)
