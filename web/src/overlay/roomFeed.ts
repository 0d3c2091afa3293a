/**
 * A live room's events as the overlay needs them: new comments, removed ones, and the pinned one. It reconnects by itself;
 * after a short outage the missed comments are delivered late.
 */

import type { LiveCommentView, LiveEvent, LiveReacted, LiveRoomView, LiveSnapshot } from '../generated'
import type { Connection, Subscription } from '../lib/socket/connection'

export interface FeedListener {
  commented(comment: LiveCommentView): void
  removed(commentId: string): void
  /** The pinned comment to show, if there is one. */
  pinned(comment: LiveCommentView | undefined): void
  reacted(reactions: LiveReacted): void
  roomChanged(room: LiveRoomView): void
  closed(): void
  /** There is no such room, or this reader may not join it. */
  missing(): void
}

/** Comments that were missed are still shown when they are at most this old. */
const MAX_AGE_MS = 10_000

export class RoomFeed {
  #hasSnapshot = false
  #lastSeq = ''
  /** In server time: comments from before are too old to be shown. */
  #oldest = -Infinity
  #pins: LiveCommentView[] = []
  #removed = new Set<string>()
  #subscription: Subscription
  #ended = false

  constructor(
    readonly connection: Connection,
    readonly roomId: string,
    readonly listener: FeedListener,
  ) {
    // Without `since`, a snapshot has the latest comments only: after a long outage no others are shown.
    this.#subscription = connection.subscribe<LiveSnapshot, LiveEvent, unknown, unknown>(`live/${roomId}`, {
      observer: true,
      onSnapshot: (snapshot) => this.#replace(snapshot),
      onEvents: (events) => events.forEach((event) => this.#apply(event)),
      onTransient: (events) => events.forEach((event) => this.#apply(event)),
      onReady: (ready) => ready && this.#updateOldest(),
      onEnded: ({ code }) => this.#end(code),
    })
  }

  #replace({ room, comments, standing }: LiveSnapshot): void {
    this.#updateOldest()
    this.listener.roomChanged(room)
    for (const id of standing?.gone ?? []) this.listener.removed(id)
    this.#removed.clear()
    this.#pins = standing?.pinned ?? []
    this.#notifyPinned()
    if (this.#hasSnapshot) comments.forEach((comment) => this.#add(comment))
    else this.#lastSeq = comments.at(-1)?.seq ?? ''
    this.#hasSnapshot = true
    if (room.status === 'CLOSED') this.#end('room_closed')
  }

  #apply(event: LiveEvent): void {
    switch (event.k) {
      case 'commented':
        return this.#add(event.comment)
      case 'gone':
        this.#removed.add(event.commentId)
        this.listener.removed(event.commentId)
        return this.#notifyPinned()
      case 'back':
        this.#removed.delete(event.comment.commentId)
        return this.#notifyPinned()
      case 'pinned':
        this.#pins = [event.comment, ...this.#pinsWithout(event.comment.commentId)]
        return this.#notifyPinned()
      case 'unpinned':
        this.#pins = this.#pinsWithout(event.commentId)
        return this.#notifyPinned()
      case 'changed':
        return this.listener.roomChanged(event.room)
      case 'reacted':
        return this.listener.reacted(event)
      case 'closed':
        return this.#end('room_closed')
    }
  }

  #add(comment: LiveCommentView): void {
    if (comment.seq <= this.#lastSeq) return
    this.#lastSeq = comment.seq
    if (Date.parse(comment.createdAt) >= this.#oldest) this.listener.commented(comment)
  }

  #pinsWithout(commentId: string): LiveCommentView[] {
    return this.#pins.filter((comment) => comment.commentId !== commentId)
  }

  #notifyPinned(): void {
    this.listener.pinned(this.#pins.find((comment) => !this.#removed.has(comment.commentId)))
  }

  /** On every (re)connection, skip the comments that are older than `MAX_AGE_MS` by then. */
  #updateOldest(): void {
    this.#oldest = Date.now() + this.connection.clock.offset - MAX_AGE_MS
  }

  #end(code: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#subscription.leave()
    if (code === 'room_closed') this.listener.closed()
    else this.listener.missing()
  }
}
