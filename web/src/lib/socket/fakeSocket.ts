/** A socket whose server is played by a test. */

import type { FromBrowser, ToBrowser } from '../../generated'

export class ScriptedSocket {
  static readonly OPEN = 1
  static opened: ScriptedSocket[] = []

  /** The socket that was opened last. */
  static get last(): ScriptedSocket {
    const last = ScriptedSocket.opened.at(-1)
    if (!last) throw new Error('no socket was opened')
    return last
  }

  readyState = 0
  binaryType = 'blob'
  sent: FromBrowser[] = []
  sentBinary: Uint8Array[] = []
  onmessage: (message: { data: string | ArrayBuffer }) => void = () => {}
  onclose: () => void = () => {}

  constructor(readonly url: string) {
    ScriptedSocket.opened.push(this)
  }

  send(frame: string | Uint8Array): void {
    if (typeof frame === 'string') this.sent.push(JSON.parse(frame) as FromBrowser)
    else this.sentBinary.push(frame)
  }

  close(): void {
    this.readyState = 3
  }

  // What the server does

  welcome(now = Date.now(), beat = 20_000): this {
    this.readyState = ScriptedSocket.OPEN
    this.says({ t: 'welcome', now, beat })
    return this
  }

  says(message: ToBrowser): void {
    this.onmessage({ data: JSON.stringify(message) })
  }

  saysBinary(...bytes: number[]): void {
    this.onmessage({ data: new Uint8Array(bytes).buffer })
  }

  breaks(): void {
    this.readyState = 3
    this.onclose()
  }

  /** The last message of a kind that came up. */
  heard<T extends FromBrowser['t']>(kind: T): FromBrowser & { t: T } {
    const found = this.sent.findLast((message) => message.t === kind)
    if (!found) throw new Error(`no ${kind} came up`)
    return found as FromBrowser & { t: T }
  }

  count(kind: FromBrowser['t']): number {
    return this.sent.filter((message) => message.t === kind).length
  }
}
