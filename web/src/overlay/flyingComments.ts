/** Comments that fly over the stage from right to left, each in a lane, as text in one line. */

import type { LiveCommentView } from '../generated'
import { commentElement, stageTime } from './elements'
import { endOf, Lanes, type Flight, type Stage } from './lanes'
import type { Options } from './options'
import { MAX_FLYING, Queue, speedupOf, type Queued } from './queue'

/** A way to display comments: flying, or stacked for readers who want reduced motion. */
export interface CommentDisplay {
  add(comment: LiveCommentView): void
  /** Remove a comment at once, queued or visible. */
  remove(commentId: string): void
  setOptions(options: Options): void
  /** Keep this many pixels at the lower edge of the stage free. */
  setFloor(height: number): void
  clear(): void
}

/** A comment that waits for a lane; its width is 0 until it is measured. */
interface QueuedComment extends Queued {
  comment: LiveCommentView
  element: HTMLElement
}

interface FlyingComment {
  element: HTMLElement
  flight: Flight
}

/** The height of a lane in font sizes: room for diacritics above and below. */
const LANE_EM = 1.5

export class FlyingComments implements CommentDisplay {
  #lanes = new Lanes()
  #queue = new Queue<QueuedComment>()
  #flying = new Map<string, FlyingComment>()
  #measuringBox = document.createElement('div')
  #floor = 0
  #frame = 0

  constructor(
    readonly stage: HTMLElement,
    private options: Options,
  ) {
    this.#measuringBox.className = 'measuring-box'
    stage.append(this.#measuringBox)
  }

  add(comment: LiveCommentView): void {
    this.#queue.add({ comment, element: this.#render(comment), width: 0, since: performance.now() })
    this.#requestFrame()
  }

  remove(commentId: string): void {
    this.#queue.remove((queued) => queued.comment.commentId === commentId)
    this.#removeFlying(commentId)
  }

  /** Flying comments keep their size and speed; queued ones start with the new ones. */
  setOptions(options: Options): void {
    this.options = options
    for (const queued of this.#queue.all) {
      queued.element = this.#render(queued.comment)
      queued.width = 0
    }
  }

  setFloor(height: number): void {
    this.#floor = height
  }

  clear(): void {
    this.#queue.clear()
    for (const id of [...this.#flying.keys()]) this.#removeFlying(id)
    this.#measuringBox.remove()
    cancelAnimationFrame(this.#frame)
  }

  #requestFrame(): void {
    this.#frame ||= requestAnimationFrame(() => this.#startQueued())
  }

  /** Once a frame while the queue is not empty: measure the new ones, and start those that have a lane. */
  #startQueued(): void {
    this.#frame = 0
    const stage = this.#stageSize()
    this.#queue.dropStale(performance.now())
    this.#measure()
    const speedup = this.#queue.speedup(stage, this.options.speed)
    while (this.#flying.size < MAX_FLYING && this.#start(stage, speedup)) this.#queue.takeFirst()
    this.stage.dataset.dropped = String(this.#queue.dropped)
    if (this.#queue.first) this.#requestFrame()
  }

  #stageSize(): Stage {
    return { width: innerWidth, height: innerHeight - this.#floor, laneHeight: Math.ceil(this.options.size * LANE_EM) }
  }

  /** All new elements are appended before any is measured, so that the browser lays them out once. */
  #measure(): void {
    const unmeasured = this.#queue.all.filter(({ width }) => width === 0)
    if (unmeasured.length === 0) return
    this.#measuringBox.append(...unmeasured.map(({ element }) => element))
    for (const queued of unmeasured) queued.width = Math.max(1, Math.ceil(queued.element.getBoundingClientRect().width))
    this.#measuringBox.replaceChildren()
  }

  #start(stage: Stage, speedup: number): boolean {
    const queued = this.#queue.first
    if (!queued) return false
    const { element, width, comment } = queued
    const speed = this.options.speed * Math.max(speedup, speedupOf(width, stage))
    const flight = this.#lanes.place(stageTime(), stage, width, speed)
    if (!flight) return false
    element.style.top = `${flight.top}px`
    element.style.lineHeight = `${flight.height}px`
    this.stage.append(element)
    const keyframes = [{ transform: `translateX(${flight.from}px)` }, { transform: `translateX(${-width}px)` }]
    const animation = element.animate(keyframes, { duration: endOf(flight) - flight.start, fill: 'both' })
    animation.startTime = flight.start
    animation.onfinish = () => this.#removeFlying(comment.commentId)
    this.#flying.set(comment.commentId, { element, flight })
    return true
  }

  #removeFlying(commentId: string): void {
    const flying = this.#flying.get(commentId)
    if (!flying) return
    flying.element.remove()
    this.#lanes.remove(flying.flight)
    this.#flying.delete(commentId)
  }

  #render(comment: LiveCommentView): HTMLElement {
    const element = commentElement(comment, 'flight', this.options.names, this.stage.dataset)
    element.style.fontSize = `${this.options.size}px`
    return element
  }
}
