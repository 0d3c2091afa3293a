/** What this browser keeps of a room: which comments are one's own, which ones one upvoted, and what is half written. */

import type { Draft } from './outbox.svelte'

const KEY = 'zataku.live'
const ROOMS = 20
const IDS = 500

type What = 'mine' | 'upvoted'
type Kept = Partial<Record<What, string[]>>

/** What somebody is writing; `sent` is what went out under its id and was not acknowledged yet. */
export interface Unsent {
  content: string
  sent?: Draft
}

export function keptIds(roomId: string, what: What): Set<string> {
  return new Set(read<Record<string, Kept>>(store('localStorage'), KEY)?.[roomId]?.[what])
}

/** Keep the latest ids of a room, and the rooms that were visited last. */
export function keepIds(roomId: string, what: What, ids: ReadonlySet<string>): void {
  const { [roomId]: before, ...others } = read<Record<string, Kept>>(store('localStorage'), KEY) ?? {}
  const rooms = Object.entries(others).slice(1 - ROOMS)
  write(store('localStorage'), KEY, Object.fromEntries([...rooms, [roomId, { ...before, [what]: [...ids].slice(-IDS) }]]))
}

export function keptDraft(roomId: string): Unsent {
  return read<Unsent>(store('sessionStorage'), `${KEY}.${roomId}`) ?? { content: '' }
}

export function keepDraft(roomId: string, draft: Unsent): void {
  write(store('sessionStorage'), `${KEY}.${roomId}`, draft.content ? draft : null)
}

/** A browser may have none, or forbid it: then it remembers nothing, and all else works. */
function store(name: 'localStorage' | 'sessionStorage'): Storage | undefined {
  try {
    return globalThis[name]
  } catch {
    return undefined
  }
}

function read<T>(from: Storage | undefined, key: string): T | null {
  try {
    return JSON.parse(from?.getItem(key) ?? 'null') as T | null
  } catch {
    return null
  }
}

function write(to: Storage | undefined, key: string, value: unknown): void {
  try {
    if (value === null) to?.removeItem(key)
    else to?.setItem(key, JSON.stringify(value))
  } catch {
    // It is full, or forbidden.
  }
}
