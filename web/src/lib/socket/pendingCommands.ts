/** Commands that were sent and not yet answered. */

import type { Problem } from '../../generated'

/**
 * A command without a reply. `offline`: it was never sent, nothing happened. `unsettled`: the outcome is unknown, so check
 * the state before sending it again.
 */
export class NoReply extends Error {
  constructor(readonly code: 'offline' | 'unsettled') {
    super(code)
  }
}

/** A command that the server rejected. Nothing changed. */
export class CommandRejected extends Error {
  readonly code: string
  readonly details: Record<string, unknown>

  constructor(problem: Problem) {
    super(problem.message)
    this.code = problem.code
    this.details = problem.details
  }
}

interface Pending {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
  timeout: ReturnType<typeof setTimeout>
}

const REPLY_TIMEOUT_MS = 20_000

export class PendingCommands {
  #pending = new Map<number, Pending>()

  /** The reply to a command, by the id it was sent with. */
  add(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => this.#remove(id)?.reject(new NoReply('unsettled')), REPLY_TIMEOUT_MS)
      this.#pending.set(id, { resolve, reject, timeout })
    })
  }

  resolve(id: number, result: unknown): void {
    this.#remove(id)?.resolve(result)
  }

  reject(id: number, problem: Problem): void {
    const error = problem.code === 'unsettled' ? new NoReply('unsettled') : new CommandRejected(problem)
    this.#remove(id)?.reject(error)
  }

  /** Reject all: the socket is lost, and the replies with it. */
  rejectAll(): void {
    for (const id of [...this.#pending.keys()]) this.#remove(id)?.reject(new NoReply('unsettled'))
  }

  #remove(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    clearTimeout(pending?.timeout)
    this.#pending.delete(id)
    return pending
  }
}
