/** The state of all home cards: loaded once, and again whenever the server announces a change. */

import type { HomeState } from '../../generated'
import { call } from '../../lib/api'
import { isUnreachable, whenReachable } from '../../lib/reachable'
import { joinTopic } from '../../lib/socket.svelte'

/** On a busy evening the state changes many times a second. */
const RELOAD_DELAY_MS = 2000

export class HomeStore {
  state = $state.raw<HomeState | null>(null)
  failed = $state(false)
  #timer: ReturnType<typeof setTimeout> | undefined
  #stopped = false

  /** Load and follow the state until the returned function is called. */
  follow(): () => void {
    void this.load()
    const reload = (): void => this.#reloadSoon()
    // A change between the first load and the join was announced to others only.
    const onReady = (ready: boolean): void => void (ready && reload())
    const topic = joinTopic('home', { onTransient: reload, onEvents: reload, onMissed: reload, onReady })
    document.addEventListener('visibilitychange', reload)
    return () => {
      document.removeEventListener('visibilitychange', reload)
      this.#stopped = true
      clearTimeout(this.#timer)
      topic.leave()
    }
  }

  async load(): Promise<void> {
    try {
      this.state = await call('GET /api/home')
      this.failed = false
    } catch (error) {
      // A known state stays on the page.
      this.failed = this.state === null
      if (this.failed && isUnreachable(error)) void whenReachable().then(() => (this.#stopped ? undefined : this.load()))
    }
  }

  #reloadSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (!this.#stopped) void this.load()
    }, RELOAD_DELAY_MS)
  }
}
