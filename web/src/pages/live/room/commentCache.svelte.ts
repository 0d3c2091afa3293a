/**
 * What a reader has at hand of what was said in a room: in order, each once, and without a hole.
 *
 * It is everything from one place of the room to another, but for what is gone. What is heard after a hole waits until
 * that is fetched. What may have come back or gone for good while nobody listened is looked at again.
 */

import type { LiveCommentView, LiveSnapshot } from '../../../generated'
import { call } from '../../../lib/api'
import { AFTER_ALL, merged, placeBefore } from './order'

const MOST = 500

export class AtHand {
  comments = $state.raw<LiveCommentView[]>([])
  /** Where it begins; empty for the beginning of the room. */
  #from = $state('')
  #upto = ''
  #most = MOST
  /** What was heard after a hole; null without one. */
  #beyond: LiveCommentView[] | null = null
  #doubtful = false
  #earlier: Promise<void> | undefined

  constructor(
    readonly roomId: string,
    readonly isToBeSeen: (comment: LiveCommentView) => boolean,
  ) {}

  /** There is more before the first comment. */
  get earlier(): boolean {
    return this.#from !== ''
  }

  /** The place of the last one. */
  get upto(): string | undefined {
    return this.#upto || undefined
  }

  /** There is something to fetch. */
  get incomplete(): boolean {
    return this.#beyond !== null || this.#doubtful
  }

  has(commentId: string): boolean {
    return this.comments.some((comment) => comment.commentId === commentId)
  }

  /** A snapshot has what comes after the last one at hand; the latest for a newcomer, and whenever a room comes anew. */
  renew({ comments, earlier = false, more = false }: LiveSnapshot): void {
    const first = comments[0]?.seq ?? AFTER_ALL
    const newcomer = this.#upto === ''
    if (newcomer) this.#from = earlier ? first : ''
    const hole = !newcomer && earlier && first > this.#upto
    this.#beyond = hole ? [...comments] : more ? [] : null
    this.add(hole ? [] : comments)
  }

  /** What was said now, or is shown again. */
  hear(comments: LiveCommentView[]): void {
    const beyond = this.#beyond ? comments.filter((comment) => comment.seq > this.#upto) : []
    this.#beyond?.push(...beyond)
    this.add(comments.filter((comment) => !beyond.includes(comment)))
  }

  /** Put comments in their places, and leave out what is no longer to be seen. */
  add(heard: readonly LiveCommentView[]): void {
    // Between those before what is at hand and the first of it, others are missing.
    const fitting = heard.filter((comment) => comment.seq > this.#upto || comment.seq >= this.#from)
    const all = merged(this.comments, fitting).filter((comment) => this.isToBeSeen(comment))
    this.#upto = fitting.reduce((last, comment) => (comment.seq > last ? comment.seq : last), this.#upto)
    if (all.length > this.#most) this.#from = all.at(-this.#most)!.seq
    this.comments = all.slice(-this.#most)
  }

  /** More may have been said that nobody told. */
  suspectHole(): void {
    this.#beyond ??= []
  }

  /** Some may have come back or gone for good that nobody told of. */
  doubt(): void {
    this.#doubtful = true
  }

  /** Fetch what is missing, and look again at what is doubtful. `onThere` hears what is there, up to which place. */
  async complete(onThere: (ids: ReadonlySet<string>, upto: string) => void): Promise<void> {
    const hole = this.#beyond
    if (hole) {
      await this.#fetchFrom(this.upto, AFTER_ALL)
      // Another hole may have come meanwhile, which what was fetched need not reach over.
      if (this.#beyond === hole) {
        this.#beyond = null
        this.add(hole)
      }
    }
    if (!this.#doubtful) return
    this.#doubtful = false
    try {
      const upto = this.#upto
      onThere(await this.#fetchFrom(placeBefore(this.#from), upto), upto)
      this.add([])
    } catch (error) {
      this.#doubtful = true
      throw error
    }
  }

  /** Fetch what was said before the first one; for who has none, the latest. */
  fetchEarlier(): Promise<void> {
    this.#earlier ??= this.#before(this.#from || AFTER_ALL).finally(() => (this.#earlier = undefined))
    return this.#earlier
  }

  async #before(before: string): Promise<void> {
    const page = await this.#page({ before })
    this.#most += page.comments.length
    this.#from = page.more ? (page.comments[0]?.seq ?? '') : ''
    this.add(page.comments)
  }

  /** Fetch everything after a place, up to another. Gives the ids of all that is there. */
  async #fetchFrom(start: string | undefined, upto: string): Promise<Set<string>> {
    const there = new Set<string>()
    let after = start
    for (let more = true; more; ) {
      const page = await this.#page({ after })
      this.add(page.comments)
      for (const { commentId } of page.comments) there.add(commentId)
      after = page.comments.at(-1)?.seq
      more = page.more === true && after !== undefined && after < upto
    }
    return there
  }

  #page(query: { after?: string; before?: string }): Promise<{ comments: LiveCommentView[]; more?: boolean }> {
    return call('GET /api/live/rooms/{room_id}/comments', { path: { room_id: this.roomId }, query })
  }
}
