/**
 * The lanes that comments fly in, from the right edge to the left, and the rule that keeps them from touching.
 *
 * Times are milliseconds of the document's timeline, lengths are pixels, speeds pixels per second. A lane is a band of the
 * stage: when the font size changes, new bands overlap old ones, and flights in overlapping bands are kept apart, too.
 */

export interface Stage {
  width: number
  height: number
  laneHeight: number
}

/** A flying comment: its left edge is at `from` when it starts, and it ends when its right edge is at 0. */
export interface Flight {
  readonly top: number
  readonly height: number
  readonly width: number
  readonly speed: number
  readonly from: number
  readonly start: number
}

/** The left edge of a flight at a time. */
export function leftAt(flight: Flight, now: number): number {
  return flight.from - (flight.speed * (now - flight.start)) / 1000
}

/** The time at which a flight leaves the stage. */
export function endOf(flight: Flight): number {
  return flight.start + ((flight.from + flight.width) / flight.speed) * 1000
}

/** The number of lanes, at least one. */
export function laneCount(stage: Stage): number {
  return Math.max(1, Math.floor(stage.height / stage.laneHeight))
}

/** The least distance between two comments in a lane. */
export function gapOf(stage: Stage): number {
  return stage.laneHeight
}

export class Lanes {
  #flights = new Set<Flight>()

  get count(): number {
    return this.#flights.size
  }

  /** Start a flight of this width in the uppermost free lane; undefined when all are taken. */
  place(now: number, stage: Stage, width: number, speed: number): Flight | undefined {
    this.#removeFinished(now)
    for (let lane = 0; lane < laneCount(stage); lane += 1) {
      const flight = { top: lane * stage.laneHeight, height: stage.laneHeight, width, speed, from: stage.width, start: now }
      if (this.#isFree(flight, gapOf(stage))) {
        this.#flights.add(flight)
        return flight
      }
    }
    return undefined
  }

  /** Free the lane of a comment that was taken off the stage. */
  remove(flight: Flight): void {
    this.#flights.delete(flight)
  }

  #removeFinished(now: number): void {
    for (const flight of this.#flights) if (endOf(flight) <= now) this.#flights.delete(flight)
  }

  #isFree(candidate: Flight, gap: number): boolean {
    for (const other of this.#flights) {
      const overlaps = other.top < candidate.top + candidate.height && candidate.top < other.top + other.height
      if (overlaps && !canFollow(candidate, other, gap)) return false
    }
    return true
  }
}

/**
 * True when a flight can follow another one at the gap's distance. Both move at constant speed, so it is enough that the
 * gap exists when the follower starts and when the other one leaves.
 */
function canFollow(follower: Flight, other: Flight, gap: number): boolean {
  const now = follower.start
  const end = endOf(other)
  return follower.from - (leftAt(other, now) + other.width) >= gap && leftAt(follower, end) >= gap
}
