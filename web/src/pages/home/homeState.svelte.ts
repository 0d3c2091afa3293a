/** What lies on the table right now: asked for once, and again whenever the server says that something changed. */

import type { HomeState } from '../../generated'
import { call } from '../../lib/api'
import { joinTopic } from '../../lib/socket.svelte'

/** A busy evening changes the table many times a second; nobody reads that fast. */
const PAUSE = 2000

export class Home {
  state = $state.raw<HomeState | null>(null)
  failed = $state(false)
  #timer: ReturnType<typeof setTimeout> | undefined
  #stopped = false

  /** Follow the table until what this returns is called. */
  follow(): () => void {
    void this.fetch()
    const soon = (): void => this.#later()
    const topic = joinTopic('home', { onTransient: soon, onEvents: soon, onMissed: soon })
    // Who comes back to the page after a while sees how it is now.
    document.addEventListener('visibilitychange', soon)
    return () => {
      document.removeEventListener('visibilitychange', soon)
      this.#stopped = true
      clearTimeout(this.#timer)
      topic.leave()
    }
  }

  async fetch(): Promise<void> {
    try {
      this.state = await call('GET /api/home')
      this.failed = false
    } catch {
      // What is known stays on the table; only who knows nothing yet is told.
      this.failed = this.state === null
    }
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (!this.#stopped) void this.fetch()
    }, PAUSE)
  }
}
