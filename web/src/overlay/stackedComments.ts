/** Comments for reduced motion: the latest few above one another, the newest below; each fades out. */

import type { LiveCommentView } from '../generated'
import { commentElement, stageTime } from './elements'
import type { CommentDisplay } from './flyingComments'
import type { Options } from './options'

const MAX_SHOWN = 6
const SHOWN_MS = 9_000
/** Between two comments that appear, so that a flood does not flicker. */
const INTERVAL_MS = 300

export class StackedComments implements CommentDisplay {
  #queue: LiveCommentView[] = []
  #column = document.createElement('div')
  #lastShownAt = -Infinity
  #dropped = 0
  #frame = 0

  constructor(
    readonly stage: HTMLElement,
    private options: Options,
  ) {
    this.#column.className = 'stack'
    stage.append(this.#column)
    this.setOptions(options)
  }

  add(comment: LiveCommentView): void {
    this.#queue.push(comment)
    if (this.#queue.length > MAX_SHOWN) {
      this.#queue.shift()
      this.#dropped += 1
      this.stage.dataset.dropped = String(this.#dropped)
    }
    this.#requestFrame()
  }

  remove(commentId: string): void {
    this.#queue = this.#queue.filter((comment) => comment.commentId !== commentId)
    for (const element of this.#shown()) if (element.dataset.comment === commentId) element.remove()
  }

  setOptions(options: Options): void {
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

  #requestFrame(): void {
    this.#frame ||= requestAnimationFrame(() => this.#showNext())
  }

  #showNext(): void {
    this.#frame = 0
    const now = stageTime()
    if (now - this.#lastShownAt >= INTERVAL_MS) {
      const comment = this.#queue.shift()
      if (comment) this.#show(comment)
      this.#lastShownAt = now
    }
    if (this.#queue.length) this.#requestFrame()
  }

  #show(comment: LiveCommentView): void {
    const element = commentElement(comment, 'entry', this.options.names, this.stage.dataset)
    this.#column.append(element)
    const animation = element.animate([{ opacity: 1 }, { opacity: 1, offset: 0.9 }, { opacity: 0 }], SHOWN_MS)
    animation.onfinish = () => element.remove()
    const shown = this.#shown()
    if (shown.length > MAX_SHOWN) shown[0]?.remove()
  }

  #shown(): HTMLElement[] {
    return [...this.#column.children] as HTMLElement[]
  }
}
