/**
 * Sends comments exactly once, and counts down the time until the next one may be sent.
 *
 * Each comment has an id of its own. When its reply is lost, it is sent again under the same id as soon as the room is
 * connected, and the server stores it once.
 */

import { errorCode } from '../../../lib/errorText'
import { NoReply } from '../../../lib/socket.svelte'

export interface Draft {
  content: string
  /** Empty for an anonymous comment. */
  nickname: string
  id: string
}

const MAX_ATTEMPTS = 5
const RETRY_DELAY_MS = 1_000
/** Errors after which sending again is safe: the outcome is unknown, or nothing happened for now. */
const RETRYABLE_CODES = ['unsettled', 'unavailable', 'busy']

export class Outbox {
  /** A comment is being sent for the second time or more. */
  isRetrying = $state(false)
  #ready = false
  #stopped = false
  #waiting: (() => void)[] = []

  constructor(
    readonly send: (draft: Draft) => Promise<void>,
    /** True when the comment is in the room. */
    readonly isPosted: (id: string) => boolean,
  ) {}

  setReady(ready: boolean): void {
    this.#ready = ready
    if (ready) this.#resumeWaiting()
  }

  /** Give up: the room is closed, or was left. */
  stop(): void {
    this.#stopped = true
    this.#resumeWaiting()
  }

  /** Post a comment; resolves when it is in the room. Rejects with the server's error. */
  async post(draft: Draft): Promise<void> {
    try {
      for (let attempt = 1; ; attempt++) {
        if (attempt > 1) await this.#untilReady()
        if (this.isPosted(draft.id) || (await this.#attempt(draft, attempt))) return
        this.isRetrying = true
      }
    } finally {
      this.isRetrying = false
    }
  }

  /** Send it once. False when it is worth sending again. */
  async #attempt(draft: Draft, attempt: number): Promise<boolean> {
    try {
      await this.send(draft)
      return true
    } catch (error) {
      const code = errorCode(error) ?? ''
      // An earlier attempt was stored, even if the comment has been deleted since: this error is about the repetition.
      if (this.isPosted(draft.id) || (attempt > 1 && code === 'deleted')) return true
      const hasAttemptsLeft = attempt < MAX_ATTEMPTS && !this.#stopped
      // A first attempt that was never sent is reported: nothing happened yet.
      if (!hasAttemptsLeft || !(RETRYABLE_CODES.includes(code) || (attempt > 1 && code === 'offline'))) throw error
      if (this.#ready) await new Promise((resume) => setTimeout(resume, RETRY_DELAY_MS * attempt))
      return false
    }
  }

  async #untilReady(): Promise<void> {
    while (!this.#ready && !this.#stopped) await new Promise<void>((resume) => this.#waiting.push(resume))
    if (this.#stopped) throw new NoReply('unsettled')
  }

  #resumeWaiting(): void {
    for (const resume of this.#waiting.splice(0)) resume()
  }
}

/** Seconds until the next comment may be sent, counted down. */
export class Cooldown {
  secondsLeft = $state(0)
  #timer: ReturnType<typeof setInterval> | undefined

  start(seconds: number): void {
    this.stop()
    // By the clock: timers do not run while a phone sleeps.
    const end = Date.now() + seconds * 1000
    const update = (): void => {
      this.secondsLeft = Math.max(0, Math.ceil((end - Date.now()) / 1000))
      if (this.secondsLeft === 0) clearInterval(this.#timer)
    }
    this.#timer = setInterval(update, 250)
    update()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.secondsLeft = 0
  }
}

/** A random UUID (version 4). `crypto.randomUUID` is missing on pages without TLS, as from a laptop in a lecture hall. */
export function newCommentId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
