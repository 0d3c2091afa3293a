/**
 * A list as long as a talk, of which the page has a few rows: it goes on in both directions, and what lies far behind is let
 * go of. What is at hand has no holes.
 */

import type { LiveCommentView } from '../../../generated'

/** Some comments in order, and from where to go on; null at the end. */
export interface Stretch {
  rows: LiveCommentView[]
  next: string | null
}

/** Where the comments come from: those after a place, or from the beginning; and those before one. */
export interface Source {
  after(place: string | null): Promise<Stretch>
  before?(place: string): Promise<Stretch>
}

export const SHOWN = 150
const STEP = 50
const AT_HAND = 800

export class Roll {
  rows = $state.raw<LiveCommentView[]>([])
  error = $state.raw<unknown>(null)
  busy = $state(true)
  #from = $state(0)
  #earlier: string | null = null
  #later: string | null = null
  #asked = 0

  constructor(readonly source: Source) {}

  get shown(): LiveCommentView[] {
    return this.rows.slice(this.#from, this.#from + SHOWN)
  }

  /** The first row in the page is the first there is. */
  get begun(): boolean {
    return this.#from === 0 && this.#earlier === null
  }

  get ended(): boolean {
    return !this.busy && this.#from + SHOWN >= this.rows.length && this.#later === null
  }

  /** Begin at a place, or at the beginning. True when it is in the page then. */
  async open(place: string | null = null): Promise<boolean> {
    if (place !== null && this.#has(place)) {
      this.#asked += 1
      this.busy = false
      const at = this.rows.findIndex((row) => row.seq >= place)
      this.#from = Math.max(0, Math.min(at - STEP, this.rows.length - SHOWN))
      return true
    }
    return this.#ask(() => this.source.after(place === null ? null : justBefore(place)), (found) => {
      this.rows = found.rows
      this.#from = 0
      this.#later = found.next
      // Whether there is something before is known when somebody wants to see it.
      this.#earlier = place === null || !this.source.before ? null : place
    })
  }

  /** See to it that there are rows below those in the page, if there are any. */
  async reachDown(): Promise<boolean> {
    const later = this.#later
    if (later === null || this.#from + SHOWN + STEP <= this.rows.length) return true
    return this.#ask(() => this.source.after(later), (found) => {
      const all = [...this.rows, ...found.rows]
      const over = Math.min(this.#from, Math.max(0, all.length - AT_HAND))
      this.#later = found.next
      // What a search finds cannot be gone back to.
      if (over === 0 || !this.source.before) return void (this.rows = all)
      this.rows = all.slice(over)
      this.#from -= over
      this.#earlier = this.rows[0]!.seq
    })
  }

  async reachUp(): Promise<boolean> {
    const earlier = this.#earlier
    if (earlier === null || this.#from >= STEP) return true
    return this.#ask(() => this.source.before!(earlier), (found) => {
      const all = [...found.rows, ...this.rows]
      const from = this.#from + found.rows.length
      this.#earlier = found.next
      this.rows = all.slice(0, Math.max(AT_HAND, from + SHOWN))
      if (this.rows.length < all.length) this.#later = this.rows.at(-1)!.seq
      this.#from = from
    })
  }

  /** Turn the page on by some rows; false at the end of what is at hand. */
  down(): boolean {
    return this.#move(Math.min(this.#from + STEP, this.rows.length - SHOWN))
  }

  up(): boolean {
    return this.#move(this.#from - STEP)
  }

  remove(commentId: string): void {
    this.rows = this.rows.filter((row) => row.commentId !== commentId)
  }

  #move(to: number): boolean {
    const before = this.#from
    this.#from = Math.max(0, to)
    return this.#from !== before
  }

  #has(place: string): boolean {
    return this.rows.length > 0 && this.rows[0]!.seq <= place && place <= this.rows.at(-1)!.seq
  }

  /** Ask the source; whoever asked for something else meanwhile does not get it. True when it came. */
  async #ask(question: () => Promise<Stretch>, got: (found: Stretch) => void): Promise<boolean> {
    const asked = (this.#asked += 1)
    this.busy = true
    this.error = null
    try {
      const found = await question()
      if (asked !== this.#asked) return false
      got(found)
    } catch (error) {
      if (asked !== this.#asked) return false
      this.error = error
    }
    this.busy = false
    return this.error === null
  }
}

/** The place right before another. */
export function justBefore(place: string): string {
  return String(Math.max(0, Number(place) - 1)).padStart(place.length, '0')
}
