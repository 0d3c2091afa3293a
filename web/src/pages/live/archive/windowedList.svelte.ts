/**
 * A long list of comments, of which a window is shown. It fetches pages in both directions, drops the rows that are far from
 * the window, and has no gaps.
 */

import type { LiveCommentView } from '../../../generated'
import { seqBefore } from '../room/commentCache.svelte'

/** Comments in order, and the cursor of the next page; null at the end. */
export interface CommentPage {
  rows: LiveCommentView[]
  next: string | null
}

/** Fetches the page after a `seq` (null: from the beginning), and the one before, where it can. */
export interface CommentSource {
  after(seq: string | null): Promise<CommentPage>
  before?(seq: string): Promise<CommentPage>
}

export const WINDOW_SIZE = 150
const STEP = 50
const MAX_LOADED = 800

export class WindowedList {
  rows = $state.raw<LiveCommentView[]>([])
  error = $state.raw<unknown>(null)
  busy = $state(true)
  #start = $state(0)
  #previousCursor: string | null = null
  #nextCursor: string | null = null
  #requests = 0

  constructor(readonly source: CommentSource) {}

  get shown(): LiveCommentView[] {
    return this.rows.slice(this.#start, this.#start + WINDOW_SIZE)
  }

  get isAtStart(): boolean {
    return this.#start === 0 && this.#previousCursor === null
  }

  get isAtEnd(): boolean {
    return !this.busy && this.#start + WINDOW_SIZE >= this.rows.length && this.#nextCursor === null
  }

  /** Show a position, or the beginning. True when it is shown. */
  async open(seq: string | null = null): Promise<boolean> {
    if (seq !== null && this.#has(seq)) {
      this.#requests += 1
      this.busy = false
      const at = this.rows.findIndex((row) => row.seq >= seq)
      this.#start = Math.max(0, Math.min(at - STEP, this.rows.length - WINDOW_SIZE))
      return true
    }
    return this.#fetch(() => this.source.after(seq === null ? null : seqBefore(seq)), (page) => {
      this.rows = page.rows
      this.#start = 0
      this.#nextCursor = page.next
      // Whether there are earlier comments is unknown until they are fetched.
      this.#previousCursor = seq === null || !this.source.before ? null : seq
    })
  }

  /** Make sure that the rows below the window are loaded, if there are any. */
  async fetchBelow(): Promise<boolean> {
    const cursor = this.#nextCursor
    if (cursor === null || this.#start + WINDOW_SIZE + STEP <= this.rows.length) return true
    return this.#fetch(() => this.source.after(cursor), (page) => {
      const all = [...this.rows, ...page.rows]
      const dropped = Math.min(this.#start, Math.max(0, all.length - MAX_LOADED))
      this.#nextCursor = page.next
      // Search results cannot be fetched backwards, so none are dropped.
      if (dropped === 0 || !this.source.before) return void (this.rows = all)
      this.rows = all.slice(dropped)
      this.#start -= dropped
      this.#previousCursor = this.rows[0]!.seq
    })
  }

  async fetchAbove(): Promise<boolean> {
    const cursor = this.#previousCursor
    if (cursor === null || this.#start >= STEP) return true
    return this.#fetch(() => this.source.before!(cursor), (page) => {
      const all = [...page.rows, ...this.rows]
      const from = this.#start + page.rows.length
      this.#previousCursor = page.next
      this.rows = all.slice(0, Math.max(MAX_LOADED, from + WINDOW_SIZE))
      if (this.rows.length < all.length) this.#nextCursor = this.rows.at(-1)!.seq
      this.#start = from
    })
  }

  /** Move the window by some rows; false at the end of the loaded rows. */
  moveDown(): boolean {
    return this.#move(Math.min(this.#start + STEP, this.rows.length - WINDOW_SIZE))
  }

  moveUp(): boolean {
    return this.#move(this.#start - STEP)
  }

  remove(commentId: string): void {
    this.rows = this.rows.filter((row) => row.commentId !== commentId)
  }

  #move(to: number): boolean {
    const before = this.#start
    this.#start = Math.max(0, to)
    return this.#start !== before
  }

  #has(seq: string): boolean {
    return this.rows.length > 0 && this.rows[0]!.seq <= seq && seq <= this.rows.at(-1)!.seq
  }

  /** Fetch a page and apply it, unless a later request was made. True when it was applied. */
  async #fetch(request: () => Promise<CommentPage>, apply: (page: CommentPage) => void): Promise<boolean> {
    const number = (this.#requests += 1)
    this.busy = true
    this.error = null
    try {
      const page = await request()
      if (number !== this.#requests) return false
      apply(page)
    } catch (error) {
      if (number !== this.#requests) return false
      this.error = error
    }
    this.busy = false
    return this.error === null
  }
}
