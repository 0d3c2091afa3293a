/** What this browser stores of live rooms: the reader's own and upvoted comments, drafts, and the nickname. */

import type { Draft } from './outbox.svelte'

const KEY = 'zataku.live'
const NICKNAME_KEY = 'zataku.nickname'
const MAX_ROOMS = 20
const MAX_IDS = 500
export const MAX_NICKNAME_LENGTH = 30

type IdKind = 'mine' | 'upvoted'
type StoredIds = Partial<Record<IdKind, string[]>>

/** The content of a composer; `sent` is what was sent under its id and not yet acknowledged. */
export interface ComposerDraft {
  content: string
  sent?: Draft
}

export function loadIds(roomId: string, kind: IdKind): Set<string> {
  return new Set(read<Record<string, StoredIds>>(storage('localStorage'), KEY)?.[roomId]?.[kind])
}

/** Store the latest ids of a room, for the rooms that were visited last. */
export function saveIds(roomId: string, kind: IdKind, ids: ReadonlySet<string>): void {
  const { [roomId]: stored, ...others } = read<Record<string, StoredIds>>(storage('localStorage'), KEY) ?? {}
  const rooms = Object.entries(others).slice(1 - MAX_ROOMS)
  write(storage('localStorage'), KEY, Object.fromEntries([...rooms, [roomId, { ...stored, [kind]: [...ids].slice(-MAX_IDS) }]]))
}

export function loadDraft(roomId: string): ComposerDraft {
  return read<ComposerDraft>(storage('sessionStorage'), `${KEY}.${roomId}`) ?? { content: '' }
}

export function saveDraft(roomId: string, draft: ComposerDraft): void {
  write(storage('sessionStorage'), `${KEY}.${roomId}`, draft.content ? draft : null)
}

/** Null when none was chosen in this browser; empty when the reader chose to be anonymous. */
export function loadNickname(): string | null {
  try {
    return storage('localStorage')?.getItem(NICKNAME_KEY) ?? null
  } catch {
    return null
  }
}

export function saveNickname(nickname: string): void {
  try {
    storage('localStorage')?.setItem(NICKNAME_KEY, nickname)
  } catch {
    // It is full, or forbidden.
  }
}

/** A browser may have no storage, or forbid it: nothing is remembered then. */
function storage(name: 'localStorage' | 'sessionStorage'): Storage | undefined {
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
