/**
 * One WebSocket from opening to loss, the server's clock, and the delay before the next attempt.
 *
 * A server that is silent for two heartbeats counts as lost, whatever the state of the socket: after eight seconds.
 */

import type { ClientMessage, ServerMessage } from '../../generated'

/** Callbacks of a transport. None is called after `onLost`. */
export interface TransportHandlers {
  onWelcome: (now: number) => void
  onMessage: (message: ServerMessage) => void
  onBinary: (channel: number, payload: Uint8Array) => void
  onLost: () => void
}

const OPEN_TIMEOUT_MS = 10_000
const LOST_AFTER_BEATS = 2
const OVERDUE_AFTER_BEATS = 1.25

export class Transport {
  /** The server has sent its welcome: what is sent now arrives, or the transport is lost. */
  welcomed = false
  #socket: WebSocket
  #beatMs = 0
  #lastReceived = 0
  #timer: ReturnType<typeof setTimeout>
  #closed = false

  constructor(
    url: string,
    readonly handlers: TransportHandlers,
  ) {
    this.#socket = new WebSocket(url)
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.onmessage = (message) => this.#receive(message.data as string | ArrayBuffer)
    this.#socket.onclose = () => this.#lose()
    this.#timer = setTimeout(() => this.#lose(), OPEN_TIMEOUT_MS)
  }

  /** True when a heartbeat is overdue: after the machine slept, the socket may be dead without a close event. */
  get isOverdue(): boolean {
    return this.welcomed && Date.now() - this.#lastReceived > this.#beatMs * OVERDUE_AFTER_BEATS
  }

  send(message: ClientMessage): boolean {
    if (!this.#isOpen) return false
    this.#socket.send(JSON.stringify(message))
    return true
  }

  sendBinary(channel: number, payload: Uint8Array): boolean {
    if (!this.#isOpen) return false
    const frame = new Uint8Array(payload.length + 2)
    frame.set([channel >> 8, channel & 255])
    frame.set(payload, 2)
    this.#socket.send(frame)
    return true
  }

  /** Close without calling `onLost`. */
  close(): void {
    this.#closed = true
    this.welcomed = false
    clearTimeout(this.#timer)
    this.#socket.close()
  }

  get #isOpen(): boolean {
    return this.welcomed && this.#socket.readyState === WebSocket.OPEN
  }

  #lose(): void {
    if (this.#closed) return
    this.close()
    this.handlers.onLost()
  }

  #receive(frame: string | ArrayBuffer): void {
    if (this.#closed) return
    this.#lastReceived = Date.now()
    if (typeof frame !== 'string') {
      const [high = 0, low = 0] = new Uint8Array(frame, 0, 2)
      return this.handlers.onBinary((high << 8) | low, new Uint8Array(frame, 2))
    }
    const message = JSON.parse(frame) as ServerMessage
    if (message.t === 'welcome') this.#welcome(message)
    else this.handlers.onMessage(message)
  }

  #welcome({ now, beat }: ServerMessage & { t: 'welcome' }): void {
    this.#beatMs = beat
    this.welcomed = true
    clearTimeout(this.#timer)
    this.#checkHeartbeat()
    this.handlers.onWelcome(now)
  }

  #checkHeartbeat(): void {
    const left = this.#lastReceived + this.#beatMs * LOST_AFTER_BEATS - Date.now()
    if (left <= 0) this.#lose()
    else this.#timer = setTimeout(() => this.#checkHeartbeat(), left)
  }
}

const CLOCK_SAMPLES = 8
const CLOCK_JUMP_MS = 2_000

/**
 * The server's clock, sampled from its heartbeats. A message can only be late, never early, so the largest difference of
 * the last few is the nearest; a jump means that this machine's clock was set.
 */
export class ServerClock {
  #differences: number[] = []

  sample(now: number): void {
    const difference = now - Date.now()
    if (this.offset - difference > CLOCK_JUMP_MS) this.#differences = []
    this.#differences = [...this.#differences.slice(1 - CLOCK_SAMPLES), difference]
  }

  /** Milliseconds to add to this machine's time. */
  get offset(): number {
    return this.#differences.length ? Math.max(...this.#differences) : 0
  }
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 15_000

/** Milliseconds before the next attempt: exponential backoff with jitter, so that clients do not come back all at once. */
export function retryDelay(attempts: number): number {
  const longest = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempts, 10))
  return longest * (0.5 + Math.random() / 2)
}
