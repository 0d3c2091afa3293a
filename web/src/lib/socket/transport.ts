/**
 * One socket to the server, from its opening to its loss. A server that says nothing for two and a half beats is gone,
 * whatever the machine's network believes.
 */

import type { FromBrowser, ToBrowser } from '../../generated'

/** What becomes of what is heard. After `onLost` nothing more is told. */
export interface Ears {
  onWelcome: (now: number) => void
  onMessage: (message: ToBrowser) => void
  onBinary: (channel: number, payload: Uint8Array) => void
  onLost: () => void
}

const OPENING_MS = 10_000
const SILENT_BEATS = 2.5
const QUIET_BEATS = 1.25

export class Line {
  /** The server has said welcome: what is sent now arrives, or the line is lost. */
  welcomed = false
  #socket: WebSocket
  #beat = 0
  #heard = 0
  #timer: ReturnType<typeof setTimeout>
  #over = false

  constructor(
    url: string,
    readonly ears: Ears,
  ) {
    this.#socket = new WebSocket(url)
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.onmessage = (message) => this.#hear(message.data as string | ArrayBuffer)
    this.#socket.onclose = () => this.#lost()
    this.#timer = setTimeout(() => this.#lost(), OPENING_MS)
  }

  /** True when a beat is overdue: after a sleep of the machine the line may be dead without anybody having said so. */
  get quiet(): boolean {
    return this.welcomed && Date.now() - this.#heard > this.#beat * QUIET_BEATS
  }

  send(message: FromBrowser): boolean {
    if (!this.#open) return false
    this.#socket.send(JSON.stringify(message))
    return true
  }

  sendBinary(channel: number, payload: Uint8Array): boolean {
    if (!this.#open) return false
    const frame = new Uint8Array(payload.length + 2)
    frame.set([channel >> 8, channel & 255])
    frame.set(payload, 2)
    this.#socket.send(frame)
    return true
  }

  /** Hang up without telling anybody. */
  close(): void {
    this.#over = true
    this.welcomed = false
    clearTimeout(this.#timer)
    this.#socket.close()
  }

  get #open(): boolean {
    return this.welcomed && this.#socket.readyState === WebSocket.OPEN
  }

  #lost(): void {
    if (this.#over) return
    this.close()
    this.ears.onLost()
  }

  #hear(frame: string | ArrayBuffer): void {
    if (this.#over) return
    this.#heard = Date.now()
    if (typeof frame !== 'string') {
      const [high = 0, low = 0] = new Uint8Array(frame, 0, 2)
      return this.ears.onBinary((high << 8) | low, new Uint8Array(frame, 2))
    }
    const message = JSON.parse(frame) as ToBrowser
    if (message.t === 'welcome') this.#welcome(message)
    else this.ears.onMessage(message)
  }

  #welcome({ now, beat }: ToBrowser & { t: 'welcome' }): void {
    this.#beat = beat
    this.welcomed = true
    clearTimeout(this.#timer)
    this.#listen()
    this.ears.onWelcome(now)
  }

  #listen(): void {
    const left = this.#heard + this.#beat * SILENT_BEATS - Date.now()
    if (left <= 0) this.#lost()
    else this.#timer = setTimeout(() => this.#listen(), left)
  }
}
