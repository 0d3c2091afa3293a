/** A talk that is over: when how much was said, what people wanted to know, and everything that was said. */

import type { LiveCommentView, LiveEvent, LiveLogView, LiveQuestion, LiveTimeline } from '../../../generated'
import { call } from '../../../lib/api'
import type { LiveRoom } from '../room/room.svelte'
import { Standing } from '../room/commentStatus.svelte'
import { Roll, type Source, type Stretch } from './windowedList.svelte'

/** A search goes on by itself until so many were found. */
const ENOUGH = 30

export class Talk {
  timeline = $state.raw<LiveTimeline | null>(null)
  questions = $state.raw<LiveQuestion[]>([])
  error = $state.raw<unknown>(null)
  readonly standing = new Standing()
  readonly all: Roll
  /** What is looked for, and what was found; null while nothing is. */
  search = $state.raw<{ wanted: string; found: Roll } | null>(null)
  // What the host's side asks of a room.
  readonly state = 'closed'
  onModerated: ((entry: LiveLogView) => void) | null = null
  onRenewed: (() => void) | null = null

  constructor(readonly room: LiveRoom) {
    this.all = new Roll(this.#everything())
  }

  get id(): string {
    return this.room.id
  }

  get comments(): LiveCommentView[] {
    const pinned = this.standing.pinned
    return [...this.all.rows, ...(this.search?.found.rows ?? []), ...pinned, ...this.questions.map((one) => one.comment)]
  }

  get pinned(): LiveCommentView[] {
    return this.standing.pinned
  }

  /** What was pinned, latest first, and then what most people wanted to know; each once. */
  get highlights(): LiveCommentView[] {
    const { pinned } = this
    const asked = this.questions.map((one) => one.comment)
    return [...pinned, ...asked.filter((one) => !pinned.some((pin) => pin.commentId === one.commentId))]
  }

  /** Nobody said anything. */
  get silent(): boolean {
    return this.all.ended && this.all.error === null && this.all.rows.length === 0
  }

  get answered(): ReadonlySet<string> {
    return this.standing.answered
  }

  /** Only ever filled for the host. */
  get hidden(): ReadonlySet<string> {
    return this.room.isHost ? this.standing.gone : new Set()
  }

  isMine(comment: LiveCommentView): boolean {
    return this.room.isMine(comment)
  }

  async load(): Promise<void> {
    const path = { room_id: this.id }
    this.error = null
    try {
      const [timeline, standing, { questions }] = await Promise.all([
        call('GET /api/live/rooms/{room_id}/timeline', { path }),
        call('GET /api/live/rooms/{room_id}/standing', { path }),
        call('GET /api/live/rooms/{room_id}/questions', { path }),
        this.all.open(),
      ])
      this.standing.replace(standing)
      this.questions = questions
      this.timeline = timeline
    } catch (error) {
      this.error = error
    }
  }

  /** Look for something; nothing ends the search. */
  look(wanted: string): void {
    const wish = wanted.trim()
    if (wish === (this.search?.wanted ?? '')) return
    this.search = wish ? { wanted: wish, found: new Roll(this.#found(wish)) } : null
    void this.search?.found.open()
  }

  /** The host did something with a comment. Nobody else tells of it: the room has ended. */
  happened(entry: LiveLogView): void {
    const event = this.#event(entry)
    if (!event) return
    this.standing.happened([event])
    if (event.k !== 'gone') return
    this.questions = this.questions.filter((one) => one.comment.commentId !== event.commentId)
    if (!event.deleted) return
    this.all.remove(event.commentId)
    this.search?.found.remove(event.commentId)
  }

  #event({ action, subject: commentId = '' }: LiveLogView): LiveEvent | null {
    const comment = this.comments.find((one) => one.commentId === commentId)
    switch (action) {
      case 'HIDE':
        return { k: 'gone', commentId }
      case 'DELETE':
        return { k: 'gone', commentId, deleted: true }
      case 'SHOW':
        return comment ? { k: 'back', comment } : null
      case 'PIN':
        return comment ? { k: 'pinned', comment } : null
      case 'UNPIN':
        return { k: 'unpinned', commentId }
      case 'ANSWER':
      case 'REASK':
        return { k: 'answered', commentId, on: action === 'ANSWER' }
      default:
        return null
    }
  }

  #everything(): Source {
    const page = async (query: { after?: string; before?: string }): Promise<Stretch> => {
      const { comments, more } = await call('GET /api/live/rooms/{room_id}/comments', { path: { room_id: this.id }, query })
      const edge = query.before === undefined ? comments.at(-1) : comments[0]
      return { rows: comments, next: more && edge ? edge.seq : null }
    }
    return { after: (place) => page({ after: place ?? undefined }), before: (place) => page({ before: place }) }
  }

  #found(wanted: string): Source {
    return {
      after: async (place) => {
        const rows: LiveCommentView[] = []
        let next: string | null = place
        do {
          const query: { q: string; after?: string } = { q: wanted, after: next ?? undefined }
          const found = await call('GET /api/live/rooms/{room_id}/search', { path: { room_id: this.id }, query })
          rows.push(...found.comments)
          next = found.next ?? null
        } while (next !== null && rows.length < ENOUGH && this.search?.wanted === wanted)
        return { rows, next }
      },
    }
  }
}
