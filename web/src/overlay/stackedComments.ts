/** Comments for those who want nothing to move: the latest few above one another, the newest below; each fades away. */

import type { LiveCommentView } from '../generated'
import type { Show } from './flyingComments'
import type { Options } from './options'
import { spoken, stageTime } from './commentElement'

const MOST_SHOWN = 6
const SHOWN_MS = 9_000
/** Between two that appear; a flood would flicker. */
const PAUSE_MS = 300

export class Stack implements Show {
  #waiting: LiveCommentView[] = []
  #column = document.createElement('div')
  #last = -Infinity
  #leftOut = 0
  #frame = 0

  constructor(
    readonly stage: HTMLElement,
    private options: Options,
  ) {
    this.#column.className = 'stack'
    stage.append(this.#column)
    this.changed(options)
  }

  add(comment: LiveCommentView): void {
    this.#waiting.push(comment)
    if (this.#waiting.length > MOST_SHOWN) {
      this.#waiting.shift()
      this.#leftOut += 1
      this.stage.dataset.leftOut = String(this.#leftOut)
    }
    this.#wake()
  }

  remove(commentId: string): void {
    this.#waiting = this.#waiting.filter((comment) => comment.commentId !== commentId)
    for (const element of this.#shown()) if (element.dataset.comment === commentId) element.remove()
  }

  changed(options: Options): void {
    this.options = options
    this.#column.style.fontSize = `${options.size}px`
  }

  setFloor(height: number): void {
    this.#column.style.bottom = `${height}px`
  }

  clear(): void {
    this.#column.remove()
    cancelAnimationFrame(this.#frame)
  }

  #wake(): void {
    this.#frame ||= requestAnimationFrame(() => this.#next())
  }

  #next(): void {
    this.#frame = 0
    const now = stageTime()
    if (now - this.#last >= PAUSE_MS) {
      const comment = this.#waiting.shift()
      if (comment) this.#appear(comment)
      this.#last = now
    }
    if (this.#waiting.length) this.#wake()
  }

  #appear(comment: LiveCommentView): void {
    const element = spoken(comment, 'entry', this.options.names)
    this.#column.append(element)
    const fading = element.animate([{ opacity: 1 }, { opacity: 1, offset: 0.9 }, { opacity: 0 }], SHOWN_MS)
    fading.onfinish = () => element.remove()
    const shown = this.#shown()
    if (shown.length > MOST_SHOWN) shown[0]?.remove()
  }

  #shown(): HTMLElement[] {
    return [...this.#column.children] as HTMLElement[]
  }
}
