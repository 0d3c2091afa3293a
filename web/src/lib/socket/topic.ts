/**
 * One topic that a page hears, through any number of sockets.
 *
 * Events reach the page strictly in order and once: those that it had are passed over, a gap means joining anew after
 * the last one that it has, and a second gap in a row means beginning afresh with a snapshot.
 */

import type { Place, Problem, ToBrowser } from '../../generated'
import { pause } from './timing'

/** What a page does with what it hears. */
export interface Handlers<S = unknown, E = unknown> {
  /** How everything is now; whatever was known before is replaced, but for what `since` names. */
  onSnapshot?: (snapshot: S) => void
  /** What happened after that, in order. */
  onEvents?: (events: E[]) => void
  /** What is worth seeing now and nowhere kept; all events of a topic without a room. */
  onPassing?: (events: E[]) => void
  onBinary?: (payload: Uint8Array) => void
  onPresence?: (here: number) => void
  /** Events of a topic without a room may have been missed: fetch anew what it is about. */
  onMissed?: () => void
  /** Commands can be sent, or cannot for now. */
  onReady?: (ready: boolean) => void
  /** The topic ended, or is not for this reader. */
  onGone?: (error: Problem) => void
  /** What the system calls the last thing that the page has. */
  since?: () => string | undefined
}

/** What a topic needs of the socket beneath it. */
export interface Below {
  /** Ask to hear the topic, and give the number of the request. */
  join(topic: Topic): number
  forget(topic: Topic): void
}

const AFRESH_AFTER_GAPS = 2

export class Topic {
  place: Place | undefined
  channel: number | undefined
  ready = false
  #request: number | undefined
  #heardBefore = false
  #gaps = 0
  #tries = 0
  #retry: ReturnType<typeof setTimeout> | undefined

  constructor(
    readonly name: string,
    readonly handlers: Handlers<never, never>,
    readonly below: Below,
  ) {}

  /** Ask to hear it from where the page is: on a new socket, or after a gap. */
  join(): void {
    clearTimeout(this.#retry)
    this.#setReady(false)
    this.#request = this.below.join(this)
  }

  /** The socket is lost. */
  lost(): void {
    clearTimeout(this.#retry)
    this.#request = undefined
    this.channel = undefined
    this.#setReady(false)
  }

  asked(id: number): boolean {
    return this.#request === id
  }

  joined(message: ToBrowser & { t: 'joined' }): void {
    this.#request = undefined
    this.channel = message.channel
    const afresh = 'snapshot' in message
    if (!afresh && message.at && this.place && message.at.epoch !== this.place.epoch) return this.#rejoinAfresh()
    if (afresh) this.#show(message.at, message.snapshot)
    else this.place ??= message.at
    if (message.here !== undefined) this.presence(message.here)
    this.#tries = 0
    this.#setReady(true)
    if (!message.at && this.#heardBefore) this.missed()
    this.#heardBefore = true
  }

  events(message: ToBrowser & { t: 'events' }): void {
    // What comes between asking and joining is told again after it.
    if (this.#request !== undefined || !this.place) return
    const { epoch, seq } = this.place
    if (message.epoch === epoch && message.seq <= seq) return
    if (message.epoch !== epoch || message.after !== seq) return this.#gap()
    this.#gaps = 0
    this.place = { epoch, seq: message.seq }
    if (message.events.length) this.#tell(() => this.handlers.onEvents?.(message.events as never[]))
  }

  snapshot(message: ToBrowser & { t: 'snapshot' }): void {
    if (this.#request === undefined) this.#show(message.at, message.snapshot)
  }

  passing(events: unknown[]): void {
    this.#tell(() => this.handlers.onPassing?.(events as never[]))
  }

  binary(payload: Uint8Array): void {
    this.#tell(() => this.handlers.onBinary?.(payload))
  }

  presence(here: number): void {
    this.#tell(() => this.handlers.onPresence?.(here))
  }

  missed(): void {
    this.#tell(() => this.handlers.onMissed?.())
  }

  /** Joining is refused or the topic ended. What may be possible in a moment is tried again. */
  gone(error: Problem): void {
    this.lost()
    const wait = again(error, this.#tries)
    if (wait === undefined) {
      this.below.forget(this)
      this.#tell(() => this.handlers.onGone?.(error))
      return
    }
    this.#tries += 1
    this.#retry = setTimeout(() => this.join(), wait)
  }

  #show(at: Place | undefined, snapshot: unknown): void {
    this.#gaps = 0
    this.place = at
    this.#tell(() => this.handlers.onSnapshot?.(snapshot as never))
  }

  #gap(): void {
    this.#gaps += 1
    if (this.#gaps >= AFRESH_AFTER_GAPS) this.#rejoinAfresh()
    else this.join()
  }

  #rejoinAfresh(): void {
    this.place = undefined
    this.join()
  }

  #setReady(ready: boolean): void {
    if (this.ready === ready) return
    this.ready = ready
    this.#tell(() => this.handlers.onReady?.(ready))
  }

  /** A page that fails at one message must not keep the others from their own. */
  #tell(call: () => void): void {
    try {
      call()
    } catch (error) {
      reportError(error)
    }
  }
}

/** After how long joining is worth another try; undefined when it is not. */
function again(error: Problem, tries: number): number | undefined {
  if (error.code === 'unavailable') return pause(tries)
  if (error.code !== 'too_many_requests') return undefined
  return Math.max(Number(error.details.retry_after ?? 1) * 1000, pause(tries))
}
