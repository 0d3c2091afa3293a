/**
 * What happens in the room, as the overlay needs to know it: what is said from now on, what must not be seen any more, what
 * is pinned. It comes back by itself after any outage; after a short one, what was missed is told late.
 */

import type { LiveCommentView, LiveEvent, LiveReacted, LiveRoomView, LiveSnapshot } from '../generated'
import type { Connection, Handle } from '../lib/socket/connection'

export interface Audience {
  said(comment: LiveCommentView): void
  gone(commentId: string): void
  /** The pinned comment that counts, if there is one. */
  pinned(comment: LiveCommentView | undefined): void
  reacted(reactions: LiveReacted): void
  room(room: LiveRoomView): void
  closed(): void
  /** There is no such room, or it is not for this reader. */
  missing(): void
}

/** What was said while the overlay was away is worth seeing for so long. */
const LATE_MS = 10_000

export class Hearing {
  #entered = false
  /** The place of the last comment that was heard of. */
  #last = ''
  /** By the server's clock: what was said before is old. */
  #since = -Infinity
  #pins: LiveCommentView[] = []
  #gone = new Set<string>()
  #handle: Handle
  #over = false

  constructor(
    readonly connection: Connection,
    readonly roomId: string,
    readonly audience: Audience,
  ) {
    this.#handle = connection.hear<LiveSnapshot, LiveEvent, unknown, unknown>(`live/${roomId}`, {
      onSnapshot: (snapshot) => this.#show(snapshot),
      onEvents: (events) => events.forEach((event) => this.#happened(event)),
      onPassing: (events) => events.forEach((event) => this.#happened(event)),
      onReady: (ready) => ready && this.#notice(),
      onGone: ({ code }) => this.#ended(code),
    })
  }

  /** Without `since`, so that a snapshot brings the latest: whoever was away for long wants no more than those. */
  #show({ room, comments, standing }: LiveSnapshot): void {
    this.#notice()
    this.audience.room(room)
    for (const id of standing?.gone ?? []) this.audience.gone(id)
    this.#gone.clear()
    this.#pins = standing?.pinned ?? []
    this.#tellPinned()
    if (this.#entered) comments.forEach((comment) => this.#said(comment))
    else this.#last = comments.at(-1)?.seq ?? ''
    this.#entered = true
    if (room.status === 'CLOSED') this.#ended('room_closed')
  }

  #happened(event: LiveEvent): void {
    switch (event.k) {
      case 'commented':
        return this.#said(event.comment)
      case 'gone':
        this.#gone.add(event.commentId)
        this.audience.gone(event.commentId)
        return this.#tellPinned()
      case 'back':
        this.#gone.delete(event.comment.commentId)
        return this.#tellPinned()
      case 'pinned':
        this.#pins = [event.comment, ...this.#without(event.comment.commentId)]
        return this.#tellPinned()
      case 'unpinned':
        this.#pins = this.#without(event.commentId)
        return this.#tellPinned()
      case 'changed':
        return this.audience.room(event.room)
      case 'reacted':
        return this.audience.reacted(event)
      case 'closed':
        return this.#ended('room_closed')
    }
  }

  #said(comment: LiveCommentView): void {
    if (comment.seq <= this.#last) return
    this.#last = comment.seq
    if (Date.parse(comment.createdAt) >= this.#since) this.audience.said(comment)
  }

  #without(commentId: string): LiveCommentView[] {
    return this.#pins.filter((comment) => comment.commentId !== commentId)
  }

  #tellPinned(): void {
    this.audience.pinned(this.#pins.find((comment) => !this.#gone.has(comment.commentId)))
  }

  /** From the moment of coming back, whatever is older than a little while is passed over when it is told. */
  #notice(): void {
    this.#since = Date.now() + this.connection.time.offset - LATE_MS
  }

  #ended(code: string): void {
    if (this.#over) return
    this.#over = true
    this.#handle.leave()
    if (code === 'room_closed') this.audience.closed()
    else this.audience.missing()
  }
}
