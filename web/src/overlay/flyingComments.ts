/** Comments that fly over the stage from right to left, each in a lane, as text in one line. */

import type { LiveCommentView } from '../generated'
import { endOf, Lanes, type Flight, type Stage } from './lanes'
import type { Options } from './options'
import { MOST_FLYING, paceOf, Queue, type Waiting } from './queue'
import { spoken, stageTime } from './commentElement'

/** What shows comments, one way or the other. */
export interface Show {
  add(comment: LiveCommentView): void
  /** Let a comment disappear at once, on its way or before. */
  remove(commentId: string): void
  changed(options: Options): void
  /** How much of the stage's lower edge something else lies on, in pixels. */
  setFloor(height: number): void
  clear(): void
}

/** One that waits; its width is 0 until it was measured. */
interface Ready extends Waiting {
  comment: LiveCommentView
  element: HTMLElement
}

interface Flying {
  element: HTMLElement
  flight: Flight
}

/** The height of a lane in heights of a letter: room for marks above and below. */
const LANE = 1.5

export class Flights implements Show {
  #lanes = new Lanes()
  #queue = new Queue<Ready>()
  #flying = new Map<string, Flying>()
  #scale = document.createElement('div')
  #floor = 0
  #frame = 0

  constructor(
    readonly stage: HTMLElement,
    private options: Options,
  ) {
    this.#scale.className = 'scale'
    stage.append(this.#scale)
  }

  add(comment: LiveCommentView): void {
    this.#queue.add({ comment, element: this.#written(comment), width: 0, since: performance.now() })
    this.#wake()
  }

  remove(commentId: string): void {
    this.#queue.remove((waiting) => waiting.comment.commentId === commentId)
    this.#land(commentId)
  }

  /** What flies keeps its size and speed; what waits starts with the new ones. */
  changed(options: Options): void {
    this.options = options
    for (const waiting of this.#queue.all) {
      waiting.element = this.#written(waiting.comment)
      waiting.width = 0
    }
  }

  setFloor(height: number): void {
    this.#floor = height
  }

  clear(): void {
    this.#queue.clear()
    for (const id of [...this.#flying.keys()]) this.#land(id)
    this.#scale.remove()
    cancelAnimationFrame(this.#frame)
  }

  #wake(): void {
    this.#frame ||= requestAnimationFrame(() => this.#next())
  }

  /** Once a frame, as long as anything waits: measure what is new, and let start what has a lane. */
  #next(): void {
    this.#frame = 0
    const stage = this.#size()
    this.#queue.freshen(performance.now())
    this.#measure()
    const hurry = this.#queue.hurry(stage, this.options.speed)
    while (this.#flying.size < MOST_FLYING && this.#start(stage, hurry)) this.#queue.takeFirst()
    this.stage.dataset.leftOut = String(this.#queue.leftOut)
    if (this.#queue.first) this.#wake()
  }

  #size(): Stage {
    return { width: innerWidth, height: innerHeight - this.#floor, laneHeight: Math.ceil(this.options.size * LANE) }
  }

  /** All new ones are written first and read then, so that the page is laid out once. */
  #measure(): void {
    const fresh = this.#queue.all.filter(({ width }) => width === 0)
    if (fresh.length === 0) return
    this.#scale.append(...fresh.map(({ element }) => element))
    for (const waiting of fresh) waiting.width = Math.max(1, Math.ceil(waiting.element.getBoundingClientRect().width))
    this.#scale.replaceChildren()
  }

  #start(stage: Stage, hurry: number): boolean {
    const waiting = this.#queue.first
    if (!waiting) return false
    const { element, width, comment } = waiting
    const speed = this.options.speed * Math.max(hurry, paceOf(width, stage))
    const flight = this.#lanes.place(stageTime(), stage, width, speed)
    if (!flight) return false
    element.style.top = `${flight.top}px`
    element.style.lineHeight = `${flight.height}px`
    this.stage.append(element)
    const way = [{ transform: `translateX(${flight.from}px)` }, { transform: `translateX(${-width}px)` }]
    const animation = element.animate(way, { duration: endOf(flight) - flight.start, fill: 'both' })
    animation.startTime = flight.start
    animation.onfinish = () => this.#land(comment.commentId)
    this.#flying.set(comment.commentId, { element, flight })
    return true
  }

  #land(commentId: string): void {
    const flying = this.#flying.get(commentId)
    if (!flying) return
    flying.element.remove()
    this.#lanes.leave(flying.flight)
    this.#flying.delete(commentId)
  }

  #written(comment: LiveCommentView): HTMLElement {
    const element = spoken(comment, 'flight', this.options.names)
    element.style.fontSize = `${this.options.size}px`
    return element
  }
}
