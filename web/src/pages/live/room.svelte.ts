/**
 * A live room as somebody sits in it: what was said, in the order of the room and each once, and saying something.
 *
 * A comment whose answer was lost is not sent again by itself. When the room is back, it is looked for among what was
 * said; if it is not there after a while, whoever wrote it is asked whether to send it again.
 */

import type { LiveCommand, LiveCommentView, LiveEvent, LiveRoomView, LiveSnapshot, Problem } from '../../generated'
import { call } from '../../lib/api'
import { codeOf, isMissing } from '../../lib/said'
import { join, type Handle } from '../../lib/socket.svelte'

export interface Draft {
  content: string
  nickname: string
}

export type State = 'loading' | 'open' | 'closed' | 'missing' | 'failed'

const ANONYMOUS = 'Anonymous'
const LOOK_MS = 2_000
const MOST_AT_HAND = 500

export class LiveRoom {
  state = $state<State>('loading')
  room = $state.raw<LiveRoomView | null>(null)
  comments = $state.raw<LiveCommentView[]>([])
  /** There was more before the first comment. */
  earlier = $state(false)
  here = $state<number | null>(null)
  /** Comments can be sent. */
  ready = $state(false)
  /** A comment of which nobody knows whether it arrived: still looked for, or to be sent again. */
  unsure = $state.raw<{ draft: Draft; after: string; missing: boolean } | null>(null)
  error = $state.raw<unknown>(null)
  #mine = $state.raw<ReadonlySet<string>>(new Set())
  #handle: Handle<LiveCommand, LiveCommentView> | undefined
  #filling: Promise<void> | undefined
  #looking: ReturnType<typeof setTimeout> | undefined

  constructor(
    readonly id: string,
    /** A comment turned out to have arrived after all. */
    readonly onArrived: (draft: Draft) => void,
  ) {}

  get isHost(): boolean {
    return this.room?.mine === true
  }

  isMine(comment: LiveCommentView): boolean {
    return this.#mine.has(comment.commentId)
  }

  /** Look for the room, and sit down in it if it is open. */
  async enter(): Promise<void> {
    this.state = 'loading'
    this.error = null
    try {
      this.room = await call('GET /api/live/rooms/{room_id}', { path: { room_id: this.id } })
    } catch (error) {
      this.error = error
      this.state = isMissing(error) ? 'missing' : 'failed'
      return
    }
    if (this.room.status === 'CLOSED') return this.#ended()
    this.#handle = join<LiveSnapshot, LiveEvent, LiveCommand, LiveCommentView>(`live/${this.id}`, {
      since: () => this.comments.at(-1)?.seq,
      onSnapshot: (snapshot) => this.#show(snapshot),
      onEvents: (events) => this.#happened(events),
      onPresence: (here) => (this.here = here),
      onReady: (ready) => this.#setReady(ready),
      onGone: (problem) => this.#gone(problem),
    })
  }

  leave(): void {
    clearTimeout(this.#looking)
    this.#handle?.leave()
  }

  /** Say something. Rejects with what the server said; a comment that may have arrived is `unsure` from then on. */
  async say(draft: Draft): Promise<void> {
    const after = this.comments.at(-1)?.seq ?? ''
    this.unsure = null
    try {
      const nickname = draft.nickname || undefined
      const said = await this.#handle?.do({ k: 'comment', content: draft.content, nickname })
      if (said) this.#mine = new Set([...this.#mine, said.commentId])
    } catch (error) {
      if (codeOf(error) === 'unsettled') this.#unsettled(draft, after)
      if (codeOf(error) === 'room_closed') await this.#ended()
      throw error
    }
  }

  /** The host closes the room for good. */
  async close(): Promise<void> {
    this.room = await call('POST /api/live/rooms/{room_id}/close', { path: { room_id: this.id } })
    await this.#ended()
  }

  #show(snapshot: LiveSnapshot): void {
    const last = this.comments.at(-1)?.seq
    const first = snapshot.comments[0]?.seq
    this.room = { ...snapshot.room, mine: this.room?.mine }
    // A room that comes anew brings its latest comments alone: who missed more fetches what lies between.
    const gap = last !== undefined && first !== undefined && first > last && snapshot.earlier === true
    if (!gap) this.#add(snapshot.comments)
    if (last === undefined) this.earlier = snapshot.earlier === true
    this.state = 'open'
    if (gap || snapshot.more) void this.#fill().catch(() => undefined)
  }

  #happened(events: LiveEvent[]): void {
    const said = events.filter((event) => event.k === 'commented').map((event) => event.comment)
    // While what was missed is fetched, it brings these along; shown before it, they would leave a gap.
    if (this.#filling) void this.#filling.then(() => this.#fill()).catch(() => undefined)
    else this.#add(said)
    if (events.some((event) => event.k === 'closed')) void this.#ended()
  }

  #add(said: LiveCommentView[]): void {
    const last = this.comments.at(-1)?.seq ?? ''
    const later = said.filter((comment) => comment.seq > last)
    const all = [...this.comments, ...later]
    if (all.length > MOST_AT_HAND) this.earlier = true
    if (later.length) this.comments = all.slice(-MOST_AT_HAND)
    this.#look()
  }

  /** Fetch everything after the last comment. */
  #fill(): Promise<void> {
    this.#filling ??= this.#fetchRest().finally(() => (this.#filling = undefined))
    return this.#filling
  }

  async #fetchRest(): Promise<void> {
    for (let more = true; more; ) {
      const after = this.comments.at(-1)?.seq
      const page = await call('GET /api/live/rooms/{room_id}/comments', { path: { room_id: this.id }, query: { after } })
      this.#add(page.comments)
      more = page.more === true && page.comments.length > 0
    }
  }

  #gone(problem: Problem): void {
    this.ready = false
    if (problem.code === 'room_closed') return void this.#ended()
    this.state = problem.code === 'no_such_room' ? 'missing' : 'failed'
    this.error = Object.assign(new Error(problem.message), problem)
  }

  /** The room is over; what was said stays readable. */
  async #ended(): Promise<void> {
    this.ready = false
    this.#handle?.leave()
    if (this.room) this.room = { ...this.room, status: 'CLOSED' }
    try {
      await this.#fill()
      this.state = 'closed'
    } catch (error) {
      // What is there stays readable; nothing at all would look as if nobody had said anything.
      this.error = error
      this.state = this.comments.length ? 'closed' : 'failed'
    }
    this.#decide()
  }

  #setReady(ready: boolean): void {
    this.ready = ready
    clearTimeout(this.#looking)
    if (ready && this.unsure) this.#looking = setTimeout(() => this.#decide(), LOOK_MS)
  }

  #unsettled(draft: Draft, after: string): void {
    this.unsure = { draft, after, missing: false }
    this.#look()
    if (this.ready) this.#setReady(true)
  }

  /** The comment of which nobody knew: when it is among what was said since, all is well. */
  #look(): void {
    const { unsure } = this
    if (!unsure) return
    const name = unsure.draft.nickname || ANONYMOUS
    const found = this.comments.findLast(
      (comment) => comment.seq > unsure.after && comment.content === unsure.draft.content && comment.nickname === name,
    )
    if (!found) return
    this.#mine = new Set([...this.#mine, found.commentId])
    this.unsure = null
    this.onArrived(unsure.draft)
  }

  #decide(): void {
    if (this.unsure) this.unsure = { ...this.unsure, missing: true }
  }
}
