/**
 * The comments of a room that a reader has loaded: in order, each once, and without gaps.
 *
 * It is the whole range between two positions, except for removed comments. Comments after a gap wait until the gap is
 * fetched. Comments that may have been removed or restored while the page was offline are fetched again.
 */

import type { LiveCommentView, LiveSnapshot } from '../../../generated'
import { call } from '../../../lib/api'

const MAX_COMMENTS = 500
/** Sorts after every `seq` of a room. */
const AFTER_ALL = '999999999999'

export class CommentCache {
  comments = $state.raw<LiveCommentView[]>([])
  /** Where the range begins; empty for the beginning of the room. */
  #firstSeq = $state('')
  #lastSeq = ''
  #maxComments = MAX_COMMENTS
  /** Comments after a gap; null without one. */
  #afterGap: LiveCommentView[] | null = null
  #isStale = false
  #fetchingEarlier: Promise<void> | undefined

  constructor(
    readonly roomId: string,
    readonly isVisible: (comment: LiveCommentView) => boolean,
  ) {}

  /** There are comments before the first one. */
  get hasEarlier(): boolean {
    return this.#firstSeq !== ''
  }

  get lastSeq(): string | undefined {
    return this.#lastSeq || undefined
  }

  get needsFetch(): boolean {
    return this.#afterGap !== null || this.#isStale
  }

  has(commentId: string): boolean {
    return this.comments.some((comment) => comment.commentId === commentId)
  }

  /**
   * A snapshot has the comments after the last known one; the latest ones on the first join, and when the room's owner
   * changed.
   */
  applySnapshot({ comments, earlier = false, more = false }: LiveSnapshot): void {
    const first = comments[0]?.seq ?? AFTER_ALL
    const isFirstJoin = this.#lastSeq === ''
    if (isFirstJoin) this.#firstSeq = earlier ? first : ''
    const hasGap = !isFirstJoin && earlier && first > this.#lastSeq
    this.#afterGap = hasGap ? [...comments] : more ? [] : null
    this.merge(hasGap ? [] : comments)
  }

  /** Add new comments, and restored ones. */
  receive(comments: LiveCommentView[]): void {
    const waiting = this.#afterGap ? comments.filter((comment) => comment.seq > this.#lastSeq) : []
    this.#afterGap?.push(...waiting)
    this.merge(comments.filter((comment) => !waiting.includes(comment)))
  }

  /** Insert comments at their positions, and drop those that are not visible any more. */
  merge(received: readonly LiveCommentView[]): void {
    // A comment before the range would leave a gap.
    const adjacent = received.filter((comment) => comment.seq > this.#lastSeq || comment.seq >= this.#firstSeq)
    const all = mergeBySeq(this.comments, adjacent).filter((comment) => this.isVisible(comment))
    this.#lastSeq = adjacent.reduce((last, comment) => (comment.seq > last ? comment.seq : last), this.#lastSeq)
    if (all.length > this.#maxComments) this.#firstSeq = all.at(-this.#maxComments)!.seq
    this.comments = all.slice(-this.#maxComments)
  }

  /** There may be comments after the last one that were never received. */
  markGap(): void {
    this.#afterGap ??= []
  }

  /** Comments may have been restored or deleted without an event. */
  markStale(): void {
    this.#isStale = true
  }

  /** Fetch what is missing or stale. `onFetched` gets the ids of all existing comments up to a position. */
  async fetchMissing(onFetched: (ids: ReadonlySet<string>, upTo: string) => void): Promise<void> {
    const waiting = this.#afterGap
    if (waiting) {
      await this.#fetchRange(this.lastSeq, AFTER_ALL)
      // Another gap may have appeared during the fetch, which the fetched pages may not cover.
      if (this.#afterGap === waiting) {
        this.#afterGap = null
        this.merge(waiting)
      }
    }
    if (!this.#isStale) return
    this.#isStale = false
    try {
      const upTo = this.#lastSeq
      onFetched(await this.#fetchRange(this.#firstSeq ? seqBefore(this.#firstSeq) : undefined, upTo), upTo)
      this.merge([])
    } catch (error) {
      this.#isStale = true
      throw error
    }
  }

  /** Fetch the page before the first comment; the latest page when there is none. */
  fetchEarlier(): Promise<void> {
    this.#fetchingEarlier ??= this.#fetchBefore(this.#firstSeq || AFTER_ALL).finally(() => (this.#fetchingEarlier = undefined))
    return this.#fetchingEarlier
  }

  async #fetchBefore(before: string): Promise<void> {
    const page = await this.#fetchPage({ before })
    this.#maxComments += page.comments.length
    this.#firstSeq = page.more ? (page.comments[0]?.seq ?? '') : ''
    this.merge(page.comments)
  }

  /** Fetch everything after a position up to another, and return the ids. */
  async #fetchRange(start: string | undefined, upTo: string): Promise<Set<string>> {
    const ids = new Set<string>()
    let after = start
    for (let more = true; more; ) {
      const page = await this.#fetchPage({ after })
      this.merge(page.comments)
      for (const { commentId } of page.comments) ids.add(commentId)
      after = page.comments.at(-1)?.seq
      more = page.more === true && after !== undefined && after < upTo
    }
    return ids
  }

  #fetchPage(query: { after?: string; before?: string }): Promise<{ comments: LiveCommentView[]; more?: boolean }> {
    return call('GET /api/live/rooms/{room_id}/comments', { path: { room_id: this.roomId }, query })
  }
}

/** Two lists of comments as one, in order and each once. */
function mergeBySeq(known: readonly LiveCommentView[], received: readonly LiveCommentView[]): LiveCommentView[] {
  const last = known.at(-1)?.seq ?? ''
  const bySeq = new Map(known.map((comment) => [comment.seq, comment]))
  for (const comment of received) bySeq.set(comment.seq, comment)
  const all = [...bySeq.values()]
  // The usual case needs no sorting: all of them come after the known ones, in order.
  const isInOrder = received.every((comment, at) => comment.seq > (received[at - 1]?.seq ?? last))
  return isInOrder ? all : all.sort((a, b) => (a.seq < b.seq ? -1 : 1))
}

/** The position right before another, to fetch from there. */
export function seqBefore(seq: string): string {
  return String(Math.max(0, Number(seq) - 1)).padStart(seq.length, '0')
}
