/**
 * The topics of a page over one line to the server, which is opened again whenever it is lost.
 *
 * It opens with the first topic and rests after the last one is left. A lost line comes back after a jittered pause, or
 * at once when the page is looked at again or the machine is back on the net. Commands are never repeated by themselves:
 * who asked is told that nobody knows what became of it.
 */

import { Asking, Unanswered } from './pendingCommands'
import { Line } from './transport'
import type { Problem, ToBrowser } from '../../generated'
import { Topic, type Below, type Handlers } from './topic'
import { pause, ServerTime } from './timing'

export type Phase = 'idle' | 'connecting' | 'open' | 'lost'

/** What a page holds of a topic. */
export interface Handle<C = unknown, R = unknown> {
  /** Have a command carried out and stored. Rejects with `Declined` or `Unanswered`. */
  do(command: C): Promise<R>
  /** Send what needs no answer. False when it could not even be sent. */
  pass(command: C): boolean
  binary(payload: Uint8Array): boolean
  leave(): void
}

const STEADY_MS = 5_000
const REST_MS = 10_000

type Timer = ReturnType<typeof setTimeout>
type OfTopic = Extract<ToBrowser, { to: string }>

export class Connection implements Below {
  readonly time = new ServerTime()
  #phase: Phase = 'idle'
  #line: Line | undefined
  #topics = new Map<string, Topic>()
  #asking = new Asking()
  #nextId = 1
  #tries = 0
  #comeBack: number | undefined
  #retry: Timer | undefined
  #steady: Timer | undefined
  #resting: Timer | undefined

  constructor(
    readonly url: () => string,
    readonly onPhase: (phase: Phase) => void = () => {},
  ) {}

  /** Hear a topic. Whoever heard it on this page before hears it no more. */
  hear<S, E, C, R>(name: string, handlers: Handlers<S, E>): Handle<C, R> {
    const before = this.#topics.get(name)
    if (before) this.#leave(before)
    const topic = new Topic(name, handlers as Handlers<never, never>, this)
    this.#topics.set(name, topic)
    clearTimeout(this.#resting)
    if (this.#line?.welcomed) topic.join()
    else this.#open()
    return {
      do: (command) => this.#do(topic, command) as Promise<R>,
      pass: (command) => topic.ready && this.#line?.send({ t: 'pass', to: name, what: command }) === true,
      binary: (payload) => topic.ready && this.#line?.sendBinary(topic.channel ?? 0, payload) === true,
      leave: () => this.#leave(topic),
    }
  }

  /** Try now instead of later: the page is looked at again, or the machine is back on the net. */
  wake(): void {
    if (this.#line?.quiet) this.#drop()
    if (this.#retry !== undefined) this.#open()
  }

  /** Somebody else sits here now, by signing in or out: everything is heard afresh. */
  renew(): void {
    for (const topic of this.#topics.values()) topic.place = undefined
    if (!this.#line) return
    this.#drop()
    this.wake()
  }

  join(topic: Topic): number {
    const id = this.#nextId++
    const since = topic.handlers.since?.()
    const at = topic.place
    this.#line?.send({ t: 'join', id, to: topic.name, ...(at && { at }), ...(since !== undefined && { since }) })
    return id
  }

  forget(topic: Topic): void {
    if (this.#topics.get(topic.name) !== topic) return
    this.#topics.delete(topic.name)
    if (this.#topics.size === 0) this.#resting = setTimeout(() => this.#rest(), REST_MS)
  }

  #leave(topic: Topic): void {
    if (this.#topics.get(topic.name) !== topic) return
    this.#line?.send({ t: 'leave', to: topic.name })
    topic.lost()
    this.forget(topic)
  }

  #do(topic: Topic, what: unknown): Promise<unknown> {
    const id = this.#nextId++
    const sent = topic.ready && this.#line?.send({ t: 'do', id, to: topic.name, what })
    return sent ? this.#asking.wait(id) : Promise.reject(new Unanswered('offline'))
  }

  #open(): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    if (this.#line) return
    this.#setPhase(this.#phase === 'lost' ? 'lost' : 'connecting')
    this.#line = new Line(this.url(), {
      onWelcome: (now) => this.#welcome(now),
      onMessage: (message) => this.#take(message),
      onBinary: (channel, payload) => this.#takeBinary(channel, payload),
      onLost: () => this.#drop(),
    })
  }

  /** Give the line up and come back later, if anybody still listens. */
  #drop(): void {
    this.#hangUp()
    if (this.#topics.size === 0) return this.#setPhase('idle')
    const wait = this.#comeBack ?? pause(this.#tries)
    this.#comeBack = undefined
    this.#tries += 1
    this.#setPhase('lost')
    this.#retry = setTimeout(() => this.#open(), wait)
  }

  #rest(): void {
    this.#hangUp()
    this.#setPhase('idle')
  }

  #hangUp(): void {
    clearTimeout(this.#retry)
    clearTimeout(this.#steady)
    this.#retry = undefined
    this.#line?.close()
    this.#line = undefined
    for (const topic of this.#topics.values()) topic.lost()
    this.#asking.lost()
  }

  #welcome(now: number): void {
    this.time.heard(now)
    // A server that accepts and hangs up at once is not asked again and again without a pause.
    this.#steady = setTimeout(() => (this.#tries = 0), STEADY_MS)
    this.#setPhase('open')
    for (const topic of [...this.#topics.values()]) topic.join()
  }

  #take(message: ToBrowser): void {
    if ('to' in message) return this.#takeOf(this.#topics.get(message.to), message)
    switch (message.t) {
      case 'beat':
        return this.time.heard(message.now)
      case 'done':
        return this.#asking.done(message.id, message.result)
      case 'refused':
        return this.#refused(message.id, message.error)
      case 'come_back':
        this.#comeBack = message.after
        return
      case 'wrong':
        return console.warn(`The server took no notice of a message: ${message.error.message}`)
    }
  }

  #takeOf(topic: Topic | undefined, message: OfTopic): void {
    switch (message.t) {
      case 'joined':
        return topic?.asked(message.id) ? topic.joined(message) : undefined
      case 'events':
        return topic?.events(message)
      case 'snapshot':
        return topic?.snapshot(message)
      case 'passing':
        return topic?.passing(message.events)
      case 'missed':
        return topic?.missed()
      case 'presence':
        return topic?.presence(message.here)
      case 'gone':
        return topic?.gone(message.error)
    }
  }

  #takeBinary(channel: number, payload: Uint8Array): void {
    for (const topic of this.#topics.values()) {
      if (topic.channel === channel) topic.binary(payload)
    }
  }

  #refused(id: number, error: Problem): void {
    const joining = [...this.#topics.values()].find((topic) => topic.asked(id))
    if (joining) joining.gone(error)
    else this.#asking.refused(id, error)
  }

  #setPhase(phase: Phase): void {
    if (this.#phase === phase) return
    this.#phase = phase
    this.onPhase(phase)
  }
}
