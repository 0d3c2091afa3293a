/** A live room on the page: its comments and their status as they change, and the reader's actions. */

import type {
  LiveCommand, LiveCommentRemoved, LiveCommentView, LiveEvent, LiveLogView, LiveReact, LiveReacted, LiveRoomView, LiveSnapshot, LiveUpvoted, Problem,
} from '../../../generated'
import { call } from '../../../lib/api'
import { errorCode, isNotFound } from '../../../lib/errorText'
import { isUnreachable, whenReachable } from '../../../lib/reachable'
import { joinTopic, NoReply, serverNow, type Subscription } from '../../../lib/socket.svelte'
import { retryDelay } from '../../../lib/socket/transport'
import { CommentCache } from './commentCache.svelte'
import { CommentStatus, withId, type Reaction } from './commentStatus.svelte'
import { Outbox, type Draft } from './outbox.svelte'
import { loadIds, saveIds } from './storage'

export type State = 'loading' | 'open' | 'closed' | 'missing' | 'failed'
type Reply = LiveCommentView | LiveUpvoted | LiveCommentRemoved

/** How long authors may retract a comment. */
export const RETRACT_MS = 60_000
const RETRACT_STEP_MS = 10_000
const REACTIONS_PER_SECOND = 5
const NO_IDS: ReadonlySet<string> = new Set()

/**
 * The seconds that are shown of the time left to take a comment back: in steps of ten, so that it does not hurry anybody. The
 * server's clock is known to some milliseconds, by which a new comment may be from the future.
 */
export function retractSeconds(msLeft: number): number {
  return (Math.max(1, Math.ceil(Math.min(RETRACT_MS, msLeft) / RETRACT_STEP_MS)) * RETRACT_STEP_MS) / 1000
}

export class LiveRoom {
  state = $state<State>('loading')
  info = $state.raw<LiveRoomView | null>(null)
  here = $state<number | null>(null)
  /** Comments can be sent. */
  ready = $state(false)
  error = $state.raw<unknown>(null)
  /** Ids that were upvoted in this browser. */
  upvoted = $state.raw<ReadonlySet<string>>(NO_IDS)
  onReacted: ((reacted: LiveReacted) => void) | null = null
  onModerated: ((entry: LiveLogView) => void) | null = null
  onSnapshot: (() => void) | null = null

  #cache: CommentCache
  #status = new CommentStatus()
  #deleted = new Set<string>()
  #outbox = new Outbox((draft) => this.#send(draft), (id) => this.#cache.has(id))
  #mine = $state.raw<ReadonlySet<string>>(NO_IDS)
  #subscription: Subscription<LiveCommand | LiveReact, Reply> | undefined
  #left = false
  #isCatchingUp = false
  #reactedAt: number[] = []
  /** Changes whenever a comment can no longer be retracted. */
  #retractExpirations = $state(0)
  #timers = new Set<ReturnType<typeof setTimeout>>()

  constructor(readonly id: string) {
    this.#cache = new CommentCache(id, ({ commentId }) => (this.isHost ? !this.#deleted.has(commentId) : !this.#status.removed.has(commentId)))
    this.upvoted = loadIds(id, 'upvoted')
    this.#mine = loadIds(id, 'mine')
  }

  get isHost(): boolean {
    return this.info?.mine === true
  }

  /** In order and each once; the host's include the hidden ones. */
  get comments(): LiveCommentView[] {
    return this.#cache.comments
  }

  /** There are comments before the first one. */
  get hasEarlier(): boolean {
    return this.#cache.hasEarlier
  }

  /** Latest first. */
  get pinned(): LiveCommentView[] {
    return this.#status.pinned
  }

  get answered(): ReadonlySet<string> {
    return this.#status.answered
  }

  /** Comments that only the host sees; empty for everybody else. */
  get hidden(): ReadonlySet<string> {
    return this.isHost ? this.#status.removed : NO_IDS
  }

  get votes(): ReadonlyMap<string, number> {
    return this.#status.votes
  }

  /** An upvoted comment is older than all that are loaded. */
  get lacksUpvotedComments(): boolean {
    if (!this.hasEarlier) return false
    const loaded = new Set(this.comments.map((comment) => comment.commentId))
    return [...this.votes.keys()].some((id) => !loaded.has(id) && !this.#status.removed.has(id))
  }

  get reactions(): Record<Reaction, number> {
    return this.#status.reactions
  }

  /** A comment is being sent again, since the outcome of the first attempt is unknown. */
  get isRetrying(): boolean {
    return this.#outbox.isRetrying
  }

  isMine(comment: LiveCommentView): boolean {
    return this.#mine.has(comment.commentId)
  }

  /** True for the reader's own comments of the last minute. */
  canRetract(comment: LiveCommentView): boolean {
    // Read, so that the answer is reactive.
    void this.#retractExpirations
    return this.state === 'open' && this.#retractMsLeft(comment) > 0
  }

  // Actions of the reader

  /** Load the room, and join it if it is open. Without a connection that is done once there is one. */
  async enter(): Promise<void> {
    this.state = 'loading'
    this.error = null
    try {
      this.info = await call('GET /api/live/rooms/{room_id}', { path: { room_id: this.id } })
    } catch (error) {
      this.error = error
      this.state = isNotFound(error) ? 'missing' : 'failed'
      void this.#enterWhenReachable(error)
      return
    }
    if (this.#left) return
    if (this.info.status === 'CLOSED') return this.#close()
    this.#subscription = joinTopic<LiveSnapshot, LiveEvent, LiveCommand | LiveReact, Reply>(`live/${this.id}`, {
      since: () => this.#cache.lastSeq,
      onSnapshot: (snapshot) => this.#applySnapshot(snapshot),
      onEvents: (events) => this.#apply(events),
      onTransient: (events) => this.#applyTransient(events),
      onPresence: (here) => (this.here = here),
      onReady: (ready) => this.#setReady(ready),
      onEnded: (problem) => this.#ended(problem),
    })
  }

  leave(): void {
    this.#left = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#outbox.stop()
    this.#subscription?.leave()
  }

  /** Post a comment; resolves when it is in the room, once. Rejects with the server's error. */
  async post(draft: Draft): Promise<void> {
    this.#mine = withId(this.#mine, draft.id)
    saveIds(this.id, 'mine', this.#mine)
    try {
      await this.#outbox.post(draft)
    } catch (error) {
      if (errorCode(error) === 'room_closed') await this.#close()
      throw error
    }
  }

  /** Upvote a comment, or take the upvote back. It counts once, however often it is called; an event has the new number. */
  async upvote(commentId: string, on = true): Promise<void> {
    if (this.upvoted.has(commentId) === on) return
    this.#setUpvoted(commentId, on)
    try {
      await this.#execute({ k: 'upvote', commentId, on })
    } catch (error) {
      if (errorCode(error) === (on ? 'already_upvoted' : 'not_upvoted')) return
      this.#setUpvoted(commentId, !on)
      throw error
    }
  }

  /** Delete one of the reader's own comments shortly after posting it. */
  async retract(commentId: string): Promise<void> {
    await this.#execute({ k: 'take_back', commentId })
    this.#apply([{ k: 'gone', commentId, deleted: true }])
  }

  /** Send a reaction. False when it is over the rate limit, or the room is not connected. */
  react(reaction: Reaction): boolean {
    const now = Date.now()
    this.#reactedAt = this.#reactedAt.filter((at) => now - at < 1_000)
    if (this.#reactedAt.length >= REACTIONS_PER_SECOND || !this.#subscription?.sendTransient({ k: 'react', reaction })) return false
    this.#reactedAt.push(now)
    return true
  }

  /** Fetch the page before the first comment. */
  async loadEarlier(): Promise<void> {
    if (this.hasEarlier) await this.#cache.fetchEarlier()
  }

  /** Close the room for good, as its host. */
  async close(): Promise<void> {
    this.info = await call('POST /api/live/rooms/{room_id}/close', { path: { room_id: this.id } })
    await this.#close()
  }

  // Messages of the server

  #applySnapshot(snapshot: LiveSnapshot): void {
    const removedBefore = this.#status.removed
    this.#setInfo(snapshot.room)
    this.#status.replace(snapshot.standing ?? {})
    this.#cache.applySnapshot(snapshot)
    // Restored comments, and the hidden ones for the host, are not in the snapshot and must be fetched.
    const { removed } = this.#status
    if (this.isHost ? removed.size > 0 : [...removedBefore].some((id) => !removed.has(id))) this.#cache.markStale()
    this.state = 'open'
    for (const comment of snapshot.comments) this.#watchRetractExpiration(comment)
    void this.#catchUp()
    this.onSnapshot?.()
  }

  #apply(events: LiveEvent[]): void {
    this.#status.apply(events)
    for (const event of events) {
      if (event.k === 'gone' && event.deleted) this.#deleted.add(event.commentId)
      else if (event.k === 'changed') this.#setInfo(event.room)
      else if (event.k === 'moderated') this.onModerated?.(event.entry)
    }
    const received = events.flatMap((event) => (event.k === 'commented' || event.k === 'back' ? [event.comment] : []))
    if (received.length || events.some((event) => event.k === 'gone')) this.#cache.receive(received)
    for (const comment of received) this.#watchRetractExpiration(comment)
    if (events.some((event) => event.k === 'closed')) void this.#close(new Date(serverNow()).toISOString())
  }

  #applyTransient(events: LiveEvent[]): void {
    for (const event of events) {
      if (event.k !== 'reacted') continue
      this.#status.addReactions(event)
      this.onReacted?.(event)
    }
  }

  #setReady(ready: boolean): void {
    this.ready = ready
    this.#outbox.setReady(ready)
  }

  #ended(problem: Problem): void {
    this.ready = false
    if (problem.code === 'room_closed') {
      this.#cache.markGap()
      return void this.#close()
    }
    this.state = problem.code === 'no_such_room' ? 'missing' : 'failed'
    this.error = Object.assign(new Error(problem.message), problem)
  }

  /** Leave a closed room; its comments stay readable. `closedAt` is given when it has just been closed. */
  async #close(closedAt?: string): Promise<void> {
    this.ready = false
    this.#outbox.stop()
    this.#subscription?.leave()
    if (this.info) this.info = { ...this.info, status: 'CLOSED', code: undefined, closedAt: this.info.closedAt ?? closedAt }
    void this.#loadClosedAt()
    try {
      if (this.#cache.lastSeq === undefined) await this.#loadLatest()
      else await this.#fetchMissing()
      this.state = 'closed'
    } catch (error) {
      // Loaded comments stay readable; an empty list would look as if there had been none.
      this.error = error
      this.state = this.comments.length ? 'closed' : 'failed'
      void this.#enterWhenReachable(error)
    }
  }

  /** Enter again after a failure, once there is a connection. */
  async #enterWhenReachable(error: unknown): Promise<void> {
    if (!isUnreachable(error)) return
    await whenReachable()
    if (!this.#left && this.state === 'failed') await this.enter()
  }

  /** Load the time of closing, unless an event had it. A failure is ignored: the comments are readable without it. */
  async #loadClosedAt(): Promise<void> {
    if (this.info?.closedAt) return
    const room = await call('GET /api/live/rooms/{room_id}', { path: { room_id: this.id } }).catch(() => null)
    if (room?.status === 'CLOSED') this.info = room
  }

  /** Fetch missing comments, with retries until there are none. */
  async #catchUp(): Promise<void> {
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    for (let attempts = 0; this.#cache.needsFetch && this.state === 'open' && !this.#left; attempts++) {
      await this.#fetchMissing().catch(() => new Promise<void>((resume) => this.#schedule(resume, retryDelay(attempts))))
    }
    this.#isCatchingUp = false
  }

  #fetchMissing(): Promise<void> {
    return this.#cache.fetchMissing((existing, upTo) => {
      // The host also gets hidden comments: one that is not there was deleted.
      const deleted = this.comments.filter(({ commentId, seq }) => seq <= upTo && this.hidden.has(commentId) && !existing.has(commentId))
      for (const { commentId } of deleted) this.#deleted.add(commentId)
    })
  }

  /** The latest comments of a room that was closed before this reader came, and the status of all. */
  async #loadLatest(): Promise<void> {
    this.#status.replace(await call('GET /api/live/rooms/{room_id}/standing', { path: { room_id: this.id } }))
    await this.#cache.fetchEarlier()
  }

  #execute(command: LiveCommand): Promise<Reply> {
    return this.#subscription?.execute(command) ?? Promise.reject(new NoReply('offline'))
  }

  async #send({ content, nickname, id }: Draft): Promise<void> {
    const reply = await this.#execute({ k: 'comment', content, nickname: nickname || undefined, id })
    if ('seq' in reply) this.#watchRetractExpiration(reply)
  }

  /** Messages to everybody leave out `mine` and `code`. */
  #setInfo(info: LiveRoomView): void {
    this.info = { ...info, mine: this.info?.mine, code: info.code ?? this.info?.code }
  }

  #setUpvoted(commentId: string, on: boolean): void {
    this.upvoted = withId(this.upvoted, commentId, on)
    saveIds(this.id, 'upvoted', this.upvoted)
  }

  #retractMsLeft(comment: LiveCommentView): number {
    return this.isMine(comment) ? Date.parse(comment.createdAt) + RETRACT_MS - serverNow() : 0
  }

  #watchRetractExpiration(comment: LiveCommentView): void {
    const left = this.#retractMsLeft(comment)
    if (left > 0) this.#schedule(() => (this.#retractExpirations += 1), left)
  }

  #schedule(run: () => void, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, ms)
    this.#timers.add(timer)
  }
}
