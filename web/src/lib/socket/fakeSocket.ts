/** A WebSocket for tests: the test plays the server. */

import type { ClientMessage, ServerMessage } from '../../generated'

export class FakeSocket {
  static readonly OPEN = 1
  static opened: FakeSocket[] = []

  /** The socket that was opened last. */
  static get last(): FakeSocket {
    const last = FakeSocket.opened.at(-1)
    if (!last) throw new Error('no socket was opened')
    return last
  }

  readyState = 0
  binaryType = 'blob'
  sent: ClientMessage[] = []
  sentBinary: Uint8Array[] = []
  onmessage: (message: { data: string | ArrayBuffer }) => void = () => {}
  onclose: () => void = () => {}

  constructor(readonly url: string) {
    FakeSocket.opened.push(this)
  }

  send(frame: string | Uint8Array): void {
    if (typeof frame === 'string') this.sent.push(JSON.parse(frame) as ClientMessage)
    else this.sentBinary.push(frame)
  }

  close(): void {
    this.readyState = 3
  }

  // The server's side

  welcome(now = Date.now(), beat = 4_000): this {
    this.readyState = FakeSocket.OPEN
    this.deliver({ t: 'welcome', now, beat })
    return this
  }

  deliver(message: ServerMessage): void {
    this.onmessage({ data: JSON.stringify(message) })
  }

  deliverBinary(...bytes: number[]): void {
    this.onmessage({ data: new Uint8Array(bytes).buffer })
  }

  disconnect(): void {
    this.readyState = 3
    this.onclose()
  }

  /** The last message of a type that the page sent. */
  lastSent<T extends ClientMessage['t']>(type: T): ClientMessage & { t: T } {
    const last = this.sent.findLast((message) => message.t === type)
    if (!last) throw new Error(`no ${type} was sent`)
    return last as ClientMessage & { t: T }
  }

  countSent(type: ClientMessage['t']): number {
    return this.sent.filter((message) => message.t === type).length
  }
}
