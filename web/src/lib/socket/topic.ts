/**
 * A page's subscription to one topic, across reconnections.
 *
 * Events reach the page in order and once: known ones are skipped, a gap means joining again from the last known event, and
 * a second gap in a row means starting over with a snapshot.
 */

import type { Position, Problem, ServerMessage } from '../../generated'
import { retryDelay } from './transport'

/** A page's callbacks for a topic. */
export interface Handlers<S = unknown, E = unknown> {
  /** The whole state; it replaces all earlier state, except what `since` names. */
  onSnapshot?: (snapshot: S) => void
  /** Events after the snapshot, in order. */
  onEvents?: (events: E[]) => void
  /** Events that are not stored; all events of a topic without a room. */
  onTransient?: (events: E[]) => void
  onBinary?: (payload: Uint8Array) => void
  onPresence?: (here: number) => void
  /** Events of a topic without a room may have been missed: fetch the state again. */
  onMissed?: () => void
  /** Commands can be sent from now on, or can not. */
  onReady?: (ready: boolean) => void
  /** The topic ended, or this reader may not join it. */
  onEnded?: (error: Problem) => void
  /** The page only shows the room: it is not counted among the people there, and sends no commands. */
  observer?: boolean
  /** The system's name for the last item that the page has. */
  since?: () => string | undefined
}

/** What a topic needs of its connection. */
export interface TopicConnection {
  /** Send a join request and return its id. */
  sendJoin(topic: Topic): number
  remove(topic: Topic): void
}

const SNAPSHOT_AFTER_GAPS = 2

export class Topic {
  position: Position | undefined
  channel: number | undefined
  ready = false
  #joinRequest: number | undefined
  #hasJoined = false
  #gaps = 0
  #attempts = 0
  #retryTimer: ReturnType<typeof setTimeout> | undefined

  constructor(
    readonly name: string,
    readonly handlers: Handlers<never, never>,
    readonly connection: TopicConnection,
  ) {}

  /** Join at the page's position: on a new socket, or after a gap. */
  join(): void {
    clearTimeout(this.#retryTimer)
    this.#setReady(false)
    this.#joinRequest = this.connection.sendJoin(this)
  }

  disconnected(): void {
    clearTimeout(this.#retryTimer)
    this.#joinRequest = undefined
    this.channel = undefined
    this.#setReady(false)
  }

  isJoinRequest(id: number): boolean {
    return this.#joinRequest === id
  }

  joined(message: ServerMessage & { t: 'joined' }): void {
    this.#joinRequest = undefined
    this.channel = message.channel
    const hasSnapshot = 'snapshot' in message
    if (!hasSnapshot && message.at && this.position && message.at.epoch !== this.position.epoch) return this.#startOver()
    if (hasSnapshot) this.#replace(message.at, message.snapshot)
    else this.position ??= message.at
    if (message.here !== undefined) this.presence(message.here)
    this.#attempts = 0
    this.#setReady(true)
    if (!message.at && this.#hasJoined) this.missed()
    this.#hasJoined = true
  }

  events(message: ServerMessage & { t: 'events' }): void {
    // Events between a join request and its answer are sent again after it.
    if (this.#joinRequest !== undefined || !this.position) return
    const { epoch, seq } = this.position
    if (message.epoch === epoch && message.seq <= seq) return
    if (message.epoch !== epoch || message.after !== seq) return this.#rejoinAfterGap()
    this.#gaps = 0
    this.position = { epoch, seq: message.seq }
    if (message.events.length) this.#notify(() => this.handlers.onEvents?.(message.events as never[]))
  }

  snapshot(message: ServerMessage & { t: 'snapshot' }): void {
    if (this.#joinRequest === undefined) this.#replace(message.at, message.snapshot)
  }

  transient(events: unknown[]): void {
    this.#notify(() => this.handlers.onTransient?.(events as never[]))
  }

  binary(payload: Uint8Array): void {
    this.#notify(() => this.handlers.onBinary?.(payload))
  }

  presence(here: number): void {
    this.#notify(() => this.handlers.onPresence?.(here))
  }

  missed(): void {
    this.#notify(() => this.handlers.onMissed?.())
  }

  /** The join was rejected or the topic ended. A temporary rejection is retried. */
  ended(error: Problem): void {
    this.disconnected()
    const delay = rejoinDelay(error, this.#attempts)
    if (delay === undefined) {
      this.connection.remove(this)
      this.#notify(() => this.handlers.onEnded?.(error))
      return
    }
    this.#attempts += 1
    this.#retryTimer = setTimeout(() => this.join(), delay)
  }

  #replace(at: Position | undefined, snapshot: unknown): void {
    this.#gaps = 0
    this.position = at
    this.#notify(() => this.handlers.onSnapshot?.(snapshot as never))
  }

  #rejoinAfterGap(): void {
    this.#gaps += 1
    if (this.#gaps >= SNAPSHOT_AFTER_GAPS) this.#startOver()
    else this.join()
  }

  #startOver(): void {
    this.position = undefined
    this.join()
  }

  #setReady(ready: boolean): void {
    if (this.ready === ready) return
    this.ready = ready
    this.#notify(() => this.handlers.onReady?.(ready))
  }

  /** An exception in one page's handler must not keep messages from the others. */
  #notify(call: () => void): void {
    try {
      call()
    } catch (error) {
      reportError(error)
    }
  }
}

/** Milliseconds before a rejected join is tried again; undefined when it never will succeed. */
function rejoinDelay(error: Problem, attempts: number): number | undefined {
  if (error.code === 'unavailable') return retryDelay(attempts)
  if (error.code !== 'too_many_requests') return undefined
  return Math.max(Number(error.details.retry_after ?? 1) * 1000, retryDelay(attempts))
}
