/**
 * The lanes that comments fly in, from the right edge to the left, and the rule by which none ever touches another.
 *
 * Times are milliseconds of the document's timeline, lengths are pixels, speeds pixels a second. A lane is no more than a
 * band of the stage: when the size of the letters changes, the new bands lie across the old ones, and whatever still
 * flies in a band that overlaps is in the way.
 */

export interface Stage {
  width: number
  height: number
  laneHeight: number
}

/** A comment on its way: its left edge is at `from` when it starts, and it is gone when its right edge is at 0. */
export interface Flight {
  readonly top: number
  readonly height: number
  readonly width: number
  readonly speed: number
  readonly from: number
  readonly start: number
}

/** Where the left edge of a flight is. */
export function leftAt(flight: Flight, now: number): number {
  return flight.from - (flight.speed * (now - flight.start)) / 1000
}

/** When a flight has left the stage. */
export function endOf(flight: Flight): number {
  return flight.start + ((flight.from + flight.width) / flight.speed) * 1000
}

/** How many comments fit above one another; on the lowest stage still one. */
export function lanesOf(stage: Stage): number {
  return Math.max(1, Math.floor(stage.height / stage.laneHeight))
}

/** What two comments in a lane keep between them. */
export function gapOf(stage: Stage): number {
  return stage.laneHeight
}

export class Lanes {
  #flights = new Set<Flight>()

  /** How many are on their way. */
  get flying(): number {
    return this.#flights.size
  }

  /** Let a text of that width start now in the uppermost lane that is free for it, or have it wait: undefined. */
  place(now: number, stage: Stage, width: number, speed: number): Flight | undefined {
    this.#forget(now)
    for (let lane = 0; lane < lanesOf(stage); lane += 1) {
      const flight = { top: lane * stage.laneHeight, height: stage.laneHeight, width, speed, from: stage.width, start: now }
      if (this.#free(flight, gapOf(stage))) {
        this.#flights.add(flight)
        return flight
      }
    }
    return undefined
  }

  /** A flight that was taken off the stage is in nobody's way. */
  leave(flight: Flight): void {
    this.#flights.delete(flight)
  }

  #forget(now: number): void {
    for (const flight of this.#flights) if (endOf(flight) <= now) this.#flights.delete(flight)
  }

  #free(wish: Flight, gap: number): boolean {
    for (const other of this.#flights) {
      const beside = other.top + other.height <= wish.top || wish.top + wish.height <= other.top
      if (!beside && !follows(wish, other, gap)) return false
    }
    return true
  }
}

/**
 * Whether one can fly behind another without coming too near. Both move evenly, so it is enough that the gap is there
 * when the follower starts, and still there when the other leaves: a faster one does not catch up before the left edge.
 */
function follows(follower: Flight, other: Flight, gap: number): boolean {
  const now = follower.start
  const end = endOf(other)
  return follower.from - (leftAt(other, now) + other.width) >= gap && leftAt(follower, end) >= gap
}
