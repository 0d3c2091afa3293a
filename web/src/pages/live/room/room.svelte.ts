/** A live room as somebody sits in it: what was said and what became of it, as it happens, and saying something. */

import type {
  LiveCommand, LiveCommentRemoved, LiveCommentView, LiveEvent, LiveLogView, LiveReact, LiveReacted, LiveRoomView, LiveSnapshot, LiveUpvoted, Problem,
} from '../../../generated'
import { call } from '../../../lib/api'
import { codeOf, isMissing } from '../../../lib/errorText'
import { join, serverNow, Unanswered, type Handle } from '../../../lib/socket.svelte'
import { pause } from '../../../lib/socket/timing'
import { AtHand } from './commentCache.svelte'
import { keepIds, keptIds } from './storage'
import { Sending, type Draft } from './outbox.svelte'
import { Standing, withId, type Reaction } from './commentStatus.svelte'

export type State = 'loading' | 'open' | 'closed' | 'missing' | 'failed'
type Answer = LiveCommentView | LiveUpvoted | LiveCommentRemoved

/** How long people may take back what they said. */
export const TAKE_BACK_MS = 60_000
const REACTIONS_A_SECOND = 5
const NOTHING: ReadonlySet<string> = new Set()

export class LiveRoom {
  state = $state<State>('loading')
  room = $state.raw<LiveRoomView | null>(null)
  here = $state<number | null>(null)
  /** Comments can be sent. */
  ready = $state(false)
  error = $state.raw<unknown>(null)
  /** Ids that were upvoted from this browser. */
  upvoted = $state.raw<ReadonlySet<string>>(NOTHING)
  onReacted: ((reacted: LiveReacted) => void) | null = null
  onModerated: ((entry: LiveLogView) => void) | null = null
  /** Everything is as a new snapshot has it. */
  onRenewed: (() => void) | null = null

  #atHand: AtHand
  #standing = new Standing()
  #deleted = new Set<string>()
  #sending = new Sending((draft) => this.#send(draft), (id) => this.#atHand.has(id))
  #mine = $state.raw<ReadonlySet<string>>(NOTHING)
  #handle: Handle<LiveCommand | LiveReact, Answer> | undefined
  #left = false
  #catchingUp = false
  #reacted: number[] = []
  #minutes = $state(0)
  #timers = new Set<ReturnType<typeof setTimeout>>()

  constructor(readonly id: string) {
    this.#atHand = new AtHand(id, ({ commentId }) => (this.isHost ? !this.#deleted.has(commentId) : !this.#standing.gone.has(commentId)))
    this.upvoted = keptIds(id, 'upvoted')
    this.#mine = keptIds(id, 'mine')
  }

  get isHost(): boolean {
    return this.room?.mine === true
  }

  /** In order and each once; for the host with the hidden ones. */
  get comments(): LiveCommentView[] {
    return this.#atHand.comments
  }

  /** There is more before the first comment. */
  get earlier(): boolean {
    return this.#atHand.earlier
  }

  /** Latest first. */
  get pinned(): LiveCommentView[] {
    return this.#standing.pinned
  }

  get answered(): ReadonlySet<string> {
    return this.#standing.answered
  }

  /** What nobody but the host sees; empty for everybody else. */
  get hidden(): ReadonlySet<string> {
    return this.isHost ? this.#standing.gone : NOTHING
  }

  get votes(): ReadonlyMap<string, number> {
    return this.#standing.votes
  }

  /** Something was upvoted that was said before all that is at hand. */
  get lacksUpvoted(): boolean {
    if (!this.earlier) return false
    const held = new Set(this.comments.map((comment) => comment.commentId))
    return [...this.votes.keys()].some((id) => !held.has(id) && !this.#standing.gone.has(id))
  }

  get reactions(): Record<Reaction, number> {
    return this.#standing.reactions
  }

  /** A comment is being sent again, since nobody knows whether it arrived. */
  get sendingAgain(): boolean {
    return this.#sending.again
  }

  isMine(comment: LiveCommentView): boolean {
    return this.#mine.has(comment.commentId)
  }

  /** True for what one said oneself in the last minute. */
  canTakeBack(comment: LiveCommentView): boolean {
    // Read, so that it is asked anew when a minute is over.
    void this.#minutes
    return this.state === 'open' && this.#leftToTakeBack(comment) > 0
  }

  // What people do

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
    if (this.#left) return
    if (this.room.status === 'CLOSED') return this.#ended()
    this.#handle = join<LiveSnapshot, LiveEvent, LiveCommand | LiveReact, Answer>(`live/${this.id}`, {
      since: () => this.#atHand.upto,
      onSnapshot: (snapshot) => this.#show(snapshot),
      onEvents: (events) => this.#happened(events),
      onPassing: (events) => this.#passed(events),
      onPresence: (here) => (this.here = here),
      onReady: (ready) => this.#setReady(ready),
      onGone: (problem) => this.#gone(problem),
    })
  }

  leave(): void {
    this.#left = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#sending.stop()
    this.#handle?.leave()
  }

  /** Say something; done when it is in the room, once. Rejects with what the server said. */
  async say(draft: Draft): Promise<void> {
    this.#mine = withId(this.#mine, draft.id)
    keepIds(this.id, 'mine', this.#mine)
    try {
      await this.#sending.say(draft)
    } catch (error) {
      if (codeOf(error) === 'room_closed') await this.#ended()
      throw error
    }
  }

  /** Want a question answered. It counts once, however often it is asked for. */
  async upvote(commentId: string): Promise<void> {
    if (this.upvoted.has(commentId)) return
    this.#setUpvoted(commentId, true)
    try {
      const done = await this.#do({ k: 'upvote', commentId })
      if ('votes' in done) this.#standing.upvoted(commentId, done.votes)
    } catch (error) {
      if (codeOf(error) === 'already_upvoted') return
      this.#setUpvoted(commentId, false)
      throw error
    }
  }

  /** Take back what one has just said. */
  async takeBack(commentId: string): Promise<void> {
    await this.#do({ k: 'take_back', commentId })
    this.#happened([{ k: 'gone', commentId, deleted: true }])
  }

  /** Clap, understand or laugh. False when that is more than the room counts, or nobody hears it. */
  react(reaction: Reaction): boolean {
    const now = Date.now()
    this.#reacted = this.#reacted.filter((at) => now - at < 1_000)
    if (this.#reacted.length >= REACTIONS_A_SECOND || !this.#handle?.pass({ k: 'react', reaction })) return false
    this.#reacted.push(now)
    return true
  }

  /** Fetch what was said before the first comment. */
  async loadEarlier(): Promise<void> {
    if (this.earlier) await this.#atHand.fetchEarlier()
  }

  /** The host closes the room for good. */
  async close(): Promise<void> {
    this.room = await call('POST /api/live/rooms/{room_id}/close', { path: { room_id: this.id } })
    await this.#ended()
  }

  // What is heard

  #show(snapshot: LiveSnapshot): void {
    const goneBefore = this.#standing.gone
    this.#setRoom(snapshot.room)
    this.#standing.replace(snapshot.standing ?? {})
    this.#atHand.renew(snapshot)
    // Others have only lost what is gone now; what is gone no longer, and for the host what is hidden, must be fetched.
    const { gone } = this.#standing
    if (this.isHost ? gone.size > 0 : [...goneBefore].some((id) => !gone.has(id))) this.#atHand.doubt()
    this.state = 'open'
    for (const comment of snapshot.comments) this.#watch(comment)
    void this.#catchUp()
    this.onRenewed?.()
  }

  #happened(events: LiveEvent[]): void {
    this.#standing.happened(events)
    for (const event of events) {
      if (event.k === 'gone' && event.deleted) this.#deleted.add(event.commentId)
      else if (event.k === 'changed') this.#setRoom(event.room)
      else if (event.k === 'moderated') this.onModerated?.(event.entry)
    }
    const heard = events.flatMap((event) => (event.k === 'commented' || event.k === 'back' ? [event.comment] : []))
    if (heard.length || events.some((event) => event.k === 'gone')) this.#atHand.hear(heard)
    for (const comment of heard) this.#watch(comment)
    if (events.some((event) => event.k === 'closed')) void this.#ended(new Date(serverNow()).toISOString())
  }

  #passed(events: LiveEvent[]): void {
    for (const event of events) {
      if (event.k !== 'reacted') continue
      this.#standing.reacted(event)
      this.onReacted?.(event)
    }
  }

  #setReady(ready: boolean): void {
    this.ready = ready
    this.#sending.setReady(ready)
  }

  #gone(problem: Problem): void {
    this.ready = false
    if (problem.code === 'room_closed') {
      this.#atHand.suspectHole()
      return void this.#ended()
    }
    this.state = problem.code === 'no_such_room' ? 'missing' : 'failed'
    this.error = Object.assign(new Error(problem.message), problem)
  }

  /** The room is over, since now or since before; what was said stays readable. */
  async #ended(now?: string): Promise<void> {
    this.ready = false
    this.#sending.stop()
    this.#handle?.leave()
    if (this.room) this.room = { ...this.room, status: 'CLOSED', code: undefined, closedAt: this.room.closedAt ?? now }
    void this.#askWhenItEnded()
    try {
      if (this.#atHand.upto === undefined) await this.#readLatest()
      else await this.#complete()
      this.state = 'closed'
    } catch (error) {
      // What is there stays readable; nothing at all would look as if nobody had said anything.
      this.error = error
      this.state = this.comments.length ? 'closed' : 'failed'
    }
  }

  /** Who came too late to hear it asks; without an answer, the rest is still there to read. */
  async #askWhenItEnded(): Promise<void> {
    if (this.room?.closedAt) return
    const room = await call('GET /api/live/rooms/{room_id}', { path: { room_id: this.id } }).catch(() => null)
    if (room?.status === 'CLOSED') this.room = room
  }

  /** Fetch what is missing; when that fails, try until it is there. */
  async #catchUp(): Promise<void> {
    if (this.#catchingUp) return
    this.#catchingUp = true
    for (let tries = 0; this.#atHand.incomplete && this.state === 'open' && !this.#left; tries++) {
      await this.#complete().catch(() => new Promise<void>((resume) => this.#later(resume, pause(tries))))
    }
    this.#catchingUp = false
  }

  #complete(): Promise<void> {
    return this.#atHand.complete((there, upto) => {
      // To the host a hidden comment is there; what is not was deleted.
      const deleted = this.comments.filter(({ commentId, seq }) => seq <= upto && this.hidden.has(commentId) && !there.has(commentId))
      for (const { commentId } of deleted) this.#deleted.add(commentId)
    })
  }

  /** A room that was over before this reader came: its last comments, and what became of all of them. */
  async #readLatest(): Promise<void> {
    this.#standing.replace(await call('GET /api/live/rooms/{room_id}/standing', { path: { room_id: this.id } }))
    await this.#atHand.fetchEarlier()
  }

  // Small things

  #do(command: LiveCommand): Promise<Answer> {
    return this.#handle?.do(command) ?? Promise.reject(new Unanswered('offline'))
  }

  async #send({ content, nickname, id }: Draft): Promise<void> {
    const said = await this.#do({ k: 'comment', content, nickname: nickname || undefined, id })
    if ('seq' in said) this.#watch(said)
  }

  /** Whose it is and how it is found stay known, where a message leaves them out. */
  #setRoom(room: LiveRoomView): void {
    this.room = { ...room, mine: this.room?.mine, code: room.code ?? this.room?.code }
  }

  #setUpvoted(commentId: string, on: boolean): void {
    this.upvoted = withId(this.upvoted, commentId, on)
    keepIds(this.id, 'upvoted', this.upvoted)
  }

  #leftToTakeBack(comment: LiveCommentView): number {
    return this.isMine(comment) ? Date.parse(comment.createdAt) + TAKE_BACK_MS - serverNow() : 0
  }

  /** Look at the clock again when a comment of one's own can no longer be taken back. */
  #watch(comment: LiveCommentView): void {
    const left = this.#leftToTakeBack(comment)
    if (left > 0) this.#later(() => (this.#minutes += 1), left)
  }

  #later(run: () => void, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, ms)
    this.#timers.add(timer)
  }
}
