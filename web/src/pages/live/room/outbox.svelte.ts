/**
 * Sending a comment so that it arrives once.
 *
 * Each has an id of its own. When the answer is lost, or nobody knows what became of it, it is sent again under the same
 * id as soon as the room can be reached, and is still one comment.
 */

import { codeOf } from '../../../lib/errorText'
import { Unanswered } from '../../../lib/socket.svelte'

export interface Draft {
  content: string
  /** Empty for nobody in particular. */
  nickname: string
  id: string
}

const TRIES = 5
const PAUSE_MS = 1_000
/** After these nobody knows whether it was stored, or nothing happened for now. */
const PASSING = ['unsettled', 'unavailable', 'busy']

export class Sending {
  /** A comment is on its way for the second time or more. */
  again = $state(false)
  #ready = false
  #over = false
  #waiting: (() => void)[] = []

  constructor(
    readonly send: (draft: Draft) => Promise<void>,
    /** True when a comment is in the room. */
    readonly isSaid: (id: string) => boolean,
  ) {}

  setReady(ready: boolean): void {
    this.#ready = ready
    if (ready) this.#wake()
  }

  /** Nothing more can be sent: the room is over, or was left. */
  stop(): void {
    this.#over = true
    this.#wake()
  }

  /** Send a comment; done when it is in the room. Rejects with what the server said. */
  async say(draft: Draft): Promise<void> {
    try {
      for (let tries = 1; ; tries++) {
        if (tries > 1) await this.#untilReady()
        if (this.isSaid(draft.id) || (await this.#sent(draft, tries))) return
        this.again = true
      }
    } finally {
      this.again = false
    }
  }

  /** Send it once. False when it is worth sending again. */
  async #sent(draft: Draft, tries: number): Promise<boolean> {
    try {
      await this.send(draft)
      return true
    } catch (error) {
      const code = codeOf(error) ?? ''
      // It is in the room, or was until somebody deleted it; whatever was said of it now is about sending it again.
      if (this.isSaid(draft.id) || (tries > 1 && code === 'deleted')) return true
      const left = tries < TRIES && !this.#over
      // What never left on a first try is for whoever wrote it: nothing happened yet.
      if (!left || !(PASSING.includes(code) || (tries > 1 && code === 'offline'))) throw error
      if (this.#ready) await new Promise((resume) => setTimeout(resume, PAUSE_MS * tries))
      return false
    }
  }

  async #untilReady(): Promise<void> {
    while (!this.#ready && !this.#over) await new Promise<void>((resume) => this.#waiting.push(resume))
    if (this.#over) throw new Unanswered('unsettled')
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume()
  }
}
