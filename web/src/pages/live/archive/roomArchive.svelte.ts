/** A closed room: its timeline, questions and all comments, with search. */

import type { LiveCommentView, LiveEvent, LiveLogView, LiveQuestion, LiveTimeline } from '../../../generated'
import { call } from '../../../lib/api'
import { isUnreachable, whenReachable } from '../../../lib/reachable'
import type { LiveRoom } from '../room/room.svelte'
import { CommentStatus } from '../room/commentStatus.svelte'
import { WindowedList, type CommentPage, type CommentSource } from './windowedList.svelte'

/** A search fetches further pages until it has this many results. */
const MIN_RESULTS = 30

export class RoomArchive {
  timeline = $state.raw<LiveTimeline | null>(null)
  questions = $state.raw<LiveQuestion[]>([])
  error = $state.raw<unknown>(null)
  readonly status = new CommentStatus()
  readonly all: WindowedList
  search = $state.raw<{ query: string; results: WindowedList } | null>(null)
  // What `HostModeration` and its components need of a room.
  readonly state = 'closed'
  onModerated: ((entry: LiveLogView) => void) | null = null
  onSnapshot: (() => void) | null = null

  constructor(readonly room: LiveRoom) {
    this.all = new WindowedList(this.#allComments())
  }

  get id(): string {
    return this.room.id
  }

  get comments(): LiveCommentView[] {
    return [...this.all.rows, ...(this.search?.results.rows ?? []), ...this.pinned, ...this.questions.map((question) => question.comment)]
  }

  get pinned(): LiveCommentView[] {
    return this.status.pinned
  }

  /** The pinned comments, latest first, then the most upvoted ones; each once. */
  get highlights(): LiveCommentView[] {
    const { pinned } = this
    const upvoted = this.questions.map((question) => question.comment)
    return [...pinned, ...upvoted.filter((comment) => !pinned.some((pin) => pin.commentId === comment.commentId))]
  }

  /** The room has no comments. */
  get isEmpty(): boolean {
    return this.all.isAtEnd && this.all.error === null && this.all.rows.length === 0
  }

  get answered(): ReadonlySet<string> {
    return this.status.answered
  }

  /** Empty for everybody but the host. */
  get hidden(): ReadonlySet<string> {
    return this.room.isHost ? this.status.removed : new Set()
  }

  isMine(comment: LiveCommentView): boolean {
    return this.room.isMine(comment)
  }

  async load(): Promise<void> {
    const path = { room_id: this.id }
    this.error = null
    try {
      const [timeline, status, { questions }] = await Promise.all([
        call('GET /api/live/rooms/{room_id}/timeline', { path }),
        call('GET /api/live/rooms/{room_id}/standing', { path }),
        call('GET /api/live/rooms/{room_id}/questions', { path }),
        this.all.open(),
      ])
      this.status.replace(status)
      this.questions = questions
      this.timeline = timeline
    } catch (error) {
      this.error = error
      if (isUnreachable(error)) void whenReachable().then(() => (this.error === error ? this.load() : undefined))
    }
  }

  /** Start a search; an empty text ends it. */
  find(text: string): void {
    const query = text.trim()
    if (query === (this.search?.query ?? '')) return
    this.search = query ? { query, results: new WindowedList(this.#searchResults(query)) } : null
    void this.search?.results.open()
  }

  /** Apply an action of the host. A closed room sends no events, so the log entry stands in for them. */
  apply(entry: LiveLogView): void {
    const event = this.#eventOf(entry)
    if (!event) return
    this.status.apply([event])
    if (event.k !== 'gone') return
    this.questions = this.questions.filter((question) => question.comment.commentId !== event.commentId)
    if (!event.deleted) return
    this.all.remove(event.commentId)
    this.search?.results.remove(event.commentId)
  }

  #eventOf({ action, subject: commentId = '' }: LiveLogView): LiveEvent | null {
    const comment = this.comments.find((known) => known.commentId === commentId)
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

  #allComments(): CommentSource {
    const fetchPage = async (query: { after?: string; before?: string }): Promise<CommentPage> => {
      const { comments, more } = await call('GET /api/live/rooms/{room_id}/comments', { path: { room_id: this.id }, query })
      const edge = query.before === undefined ? comments.at(-1) : comments[0]
      return { rows: comments, next: more && edge ? edge.seq : null }
    }
    return { after: (seq) => fetchPage({ after: seq ?? undefined }), before: (seq) => fetchPage({ before: seq }) }
  }

  #searchResults(text: string): CommentSource {
    return {
      after: async (seq) => {
        const rows: LiveCommentView[] = []
        let next: string | null = seq
        do {
          const query: { q: string; after?: string } = { q: text, after: next ?? undefined }
          const page = await call('GET /api/live/rooms/{room_id}/search', { path: { room_id: this.id }, query })
          rows.push(...page.comments)
          next = page.next ?? null
        } while (next !== null && rows.length < MIN_RESULTS && this.search?.query === text)
        return { rows, next }
      },
    }
  }
}

/** The index of the part that a comment belongs to. */
export function partOf(timeline: LiveTimeline, comment: LiveCommentView): number {
  const elapsedMs = Date.parse(comment.createdAt) - Date.parse(timeline.begin)
  const part = Math.floor(elapsedMs / 1000 / timeline.partSeconds)
  return Math.min(Math.max(0, part), Math.max(0, timeline.parts.length - 1))
}

/** The `seq` of a part's first comment; the next part's where it is empty, or else the last one before it. */
export function seqOfPart({ parts }: LiveTimeline, at: number): string | undefined {
  return (parts.slice(at).find((part) => part.seq) ?? parts.slice(0, at).findLast((part) => part.seq))?.seq
}
