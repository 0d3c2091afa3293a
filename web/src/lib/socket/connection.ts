/**
 * All topics of a page over one transport, which is reopened whenever it is lost.
 *
 * It opens with the first topic and closes some time after the last one is left. A lost transport is reopened after a
 * jittered delay, or at once when the page becomes visible or the machine is online again; a machine that goes offline loses
 * it at once. Commands are never repeated:
 * a command without a reply rejects with `NoReply`.
 */

import { NoReply, PendingCommands } from './pendingCommands'
import { retryDelay, ServerClock, Transport } from './transport'
import type { Problem, ServerMessage } from '../../generated'
import { Topic, type Handlers, type TopicConnection } from './topic'

export type Phase = 'idle' | 'connecting' | 'open' | 'lost'

/** A page's subscription to a topic. */
export interface Subscription<C = unknown, R = unknown> {
  /** Send a command that is stored and answered. Rejects with `CommandRejected` or `NoReply`. */
  execute(command: C): Promise<R>
  /** Send a transient command, which gets no reply. False when it could not be sent. */
  sendTransient(command: C): boolean
  sendBinary(payload: Uint8Array): boolean
  leave(): void
}

const STABLE_AFTER_MS = 5_000
const CLOSE_WHEN_UNUSED_MS = 10_000

type Timer = ReturnType<typeof setTimeout>
type TopicMessage = Extract<ServerMessage, { to: string }>

export class Connection implements TopicConnection {
  readonly clock = new ServerClock()
  #phase: Phase = 'idle'
  #transport: Transport | undefined
  #topics = new Map<string, Topic>()
  #pending = new PendingCommands()
  #nextId = 1
  #attempts = 0
  /** The delay that a closing server has requested. */
  #requestedDelay: number | undefined
  #retryTimer: Timer | undefined
  #stableTimer: Timer | undefined
  #unusedTimer: Timer | undefined

  constructor(
    readonly url: () => string,
    readonly onPhase: (phase: Phase) => void = () => {},
  ) {}

  /** Subscribe to a topic, in place of this page's earlier subscription to it. */
  subscribe<S, E, C, R>(name: string, handlers: Handlers<S, E>): Subscription<C, R> {
    const earlier = this.#topics.get(name)
    if (earlier) this.#leave(earlier)
    const topic = new Topic(name, handlers as Handlers<never, never>, this)
    this.#topics.set(name, topic)
    clearTimeout(this.#unusedTimer)
    if (this.#transport?.welcomed) topic.join()
    else this.#open()
    return {
      execute: (command) => this.#execute(topic, command) as Promise<R>,
      sendTransient: (command) => topic.ready && this.#transport?.send({ t: 'pass', to: name, what: command }) === true,
      sendBinary: (payload) => topic.ready && this.#transport?.sendBinary(topic.channel ?? 0, payload) === true,
      leave: () => this.#leave(topic),
    }
  }

  /** Retry now instead of later: the page is visible again, or the machine is online again. */
  wake(): void {
    if (this.#transport?.isOverdue) this.#drop()
    if (this.#retryTimer !== undefined) this.#open()
  }

  /** The browser says that the machine is offline. A socket would notice only after heartbeats are missing. */
  offline(): void {
    if (this.#transport) this.#drop()
  }

  /** Reconnect under another identity, after signing in or out: every topic starts with a snapshot. */
  reconnect(): void {
    for (const topic of this.#topics.values()) topic.position = undefined
    if (!this.#transport) return
    this.#drop()
    this.wake()
  }

  sendJoin(topic: Topic): number {
    const id = this.#nextId++
    const since = topic.handlers.since?.()
    const { observer } = topic.handlers
    const at = topic.position
    this.#transport?.send({ t: 'join', id, to: topic.name, ...(at && { at }), ...(since !== undefined && { since }), ...(observer && { observer }) })
    return id
  }

  remove(topic: Topic): void {
    if (this.#topics.get(topic.name) !== topic) return
    this.#topics.delete(topic.name)
    if (this.#topics.size === 0) this.#unusedTimer = setTimeout(() => this.#closeUnused(), CLOSE_WHEN_UNUSED_MS)
  }

  #leave(topic: Topic): void {
    if (this.#topics.get(topic.name) !== topic) return
    this.#transport?.send({ t: 'leave', to: topic.name })
    topic.disconnected()
    this.remove(topic)
  }

  #execute(topic: Topic, command: unknown): Promise<unknown> {
    const id = this.#nextId++
    const sent = topic.ready && this.#transport?.send({ t: 'do', id, to: topic.name, what: command })
    return sent ? this.#pending.add(id) : Promise.reject(new NoReply('offline'))
  }

  #open(): void {
    clearTimeout(this.#retryTimer)
    this.#retryTimer = undefined
    if (this.#transport) return
    this.#setPhase(this.#phase === 'lost' ? 'lost' : 'connecting')
    this.#transport = new Transport(this.url(), {
      onWelcome: (now) => this.#welcomed(now),
      onMessage: (message) => this.#receive(message),
      onBinary: (channel, payload) => this.#receiveBinary(channel, payload),
      onLost: () => this.#drop(),
    })
  }

  /** Close the transport and, while there are topics, open another one later. */
  #drop(): void {
    this.#close()
    if (this.#topics.size === 0) return this.#setPhase('idle')
    const delay = this.#requestedDelay ?? retryDelay(this.#attempts)
    this.#requestedDelay = undefined
    this.#attempts += 1
    this.#setPhase('lost')
    this.#retryTimer = setTimeout(() => this.#open(), delay)
  }

  #closeUnused(): void {
    this.#close()
    this.#setPhase('idle')
  }

  #close(): void {
    clearTimeout(this.#retryTimer)
    clearTimeout(this.#stableTimer)
    this.#retryTimer = undefined
    this.#transport?.close()
    this.#transport = undefined
    for (const topic of this.#topics.values()) topic.disconnected()
    this.#pending.rejectAll()
  }

  #welcomed(now: number): void {
    this.clock.sample(now)
    // A server that accepts and closes at once must not be retried without a growing delay.
    this.#stableTimer = setTimeout(() => (this.#attempts = 0), STABLE_AFTER_MS)
    this.#setPhase('open')
    for (const topic of [...this.#topics.values()]) topic.join()
  }

  #receive(message: ServerMessage): void {
    if ('to' in message) return this.#receiveForTopic(this.#topics.get(message.to), message)
    switch (message.t) {
      case 'beat':
        return this.clock.sample(message.now)
      case 'done':
        return this.#pending.resolve(message.id, message.result)
      case 'refused':
        return this.#rejected(message.id, message.error)
      case 'come_back':
        this.#requestedDelay = message.after
        return
      case 'wrong':
        return console.warn(`The server ignored a message: ${message.error.message}`)
    }
  }

  #receiveForTopic(topic: Topic | undefined, message: TopicMessage): void {
    switch (message.t) {
      case 'joined':
        return topic?.isJoinRequest(message.id) ? topic.joined(message) : undefined
      case 'events':
        return topic?.events(message)
      case 'snapshot':
        return topic?.snapshot(message)
      case 'passing':
        return topic?.transient(message.events)
      case 'missed':
        return topic?.missed()
      case 'presence':
        return topic?.presence(message.here)
      case 'gone':
        return topic?.ended(message.error)
    }
  }

  #receiveBinary(channel: number, payload: Uint8Array): void {
    for (const topic of this.#topics.values()) {
      if (topic.channel === channel) topic.binary(payload)
    }
  }

  #rejected(id: number, error: Problem): void {
    const joining = [...this.#topics.values()].find((topic) => topic.isJoinRequest(id))
    if (joining) joining.ended(error)
    else this.#pending.reject(id, error)
  }

  #setPhase(phase: Phase): void {
    if (this.#phase === phase) return
    this.#phase = phase
    this.onPhase(phase)
  }
}
