/** Commands that are under way and the promises of whoever asked for them. */

import type { Problem } from '../../generated'

/**
 * A command that got no answer. `offline`: it never left, and nothing happened. `unsettled`: nobody knows whether it was
 * carried out; look before asking again.
 */
export class Unanswered extends Error {
  constructor(readonly code: 'offline' | 'unsettled') {
    super(code)
  }
}

/** A command that the server refused. Nothing changed. */
export class Declined extends Error {
  readonly code: string
  readonly details: Record<string, unknown>

  constructor(problem: Problem) {
    super(problem.message)
    this.code = problem.code
    this.details = problem.details
  }
}

interface Open {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
  limit: ReturnType<typeof setTimeout>
}

const PATIENCE_MS = 20_000

export class Asking {
  #open = new Map<number, Open>()

  wait(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => this.#take(id)?.reject(new Unanswered('unsettled')), PATIENCE_MS)
      this.#open.set(id, { resolve, reject, limit })
    })
  }

  done(id: number, result: unknown): void {
    this.#take(id)?.resolve(result)
  }

  refused(id: number, problem: Problem): void {
    const error = problem.code === 'unsettled' ? new Unanswered('unsettled') : new Declined(problem)
    this.#take(id)?.reject(error)
  }

  /** The socket is lost, and with it the answers. */
  lost(): void {
    for (const id of [...this.#open.keys()]) this.#take(id)?.reject(new Unanswered('unsettled'))
  }

  #take(id: number): Open | undefined {
    const found = this.#open.get(id)
    clearTimeout(found?.limit)
    this.#open.delete(id)
    return found
  }
}
