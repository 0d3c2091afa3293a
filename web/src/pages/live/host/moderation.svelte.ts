/**
 * The host's moderation of a room: actions, their log, blocked words and senders, and hidden comments.
 *
 * Nothing is shown as done before the server has confirmed it. Each action is reported twice, by its response and over the
 * socket; the id of its log entry makes it count once.
 */

import type { Api, LiveModerationResult, LiveBlockedSender, LiveCommentView, LiveLogView, LiveHostView } from '../../../generated'
import { ApiError, call } from '../../../lib/api'
import { Resource } from '../../../lib/resource.svelte'
import { errorCode, errorText } from '../../../lib/errorText'
import { has, t } from '../../../lib/texts.svelte'
import { toast } from '../../../lib/toasts.svelte'

export type ModerationAction = Api['POST /api/live/rooms/{room_id}/acts']['body']

/** The part of a room that moderation needs. */
export interface ModeratedRoom {
  readonly id: string
  readonly comments: readonly LiveCommentView[]
  onModerated: ((entry: LiveLogView) => void) | null
  onSnapshot: (() => void) | null
}

const EMPTY: LiveHostView = { log: [], words: [], senders: [], hidden: [] }

export class HostModeration {
  #state = $state.raw<LiveHostView>(EMPTY)
  #busy = $state.raw<ReadonlySet<string>>(new Set())
  /** Entries that arrived while the state is loading: the response may be older. */
  #arrived: LiveLogView[] | null = null
  #resource: Resource<LiveHostView>

  constructor(readonly room: ModeratedRoom) {
    const path = { room_id: room.id }
    this.#resource = new Resource((signal) => call('GET /api/live/rooms/{room_id}/moderation', { path, signal }))
    room.onModerated = (entry) => this.#receive(entry)
    room.onSnapshot = () => void this.load()
  }

  /** The host's actions, newest first. */
  get log(): readonly LiveLogView[] {
    return this.#state.log
  }

  get words(): readonly string[] {
    return this.#state.words
  }

  get senders(): readonly LiveBlockedSender[] {
    return this.#state.senders
  }

  /** Hidden comments, in the order of the room. */
  get hidden(): readonly LiveCommentView[] {
    return this.#state.hidden
  }

  /** Why the state could not be loaded. */
  get error(): unknown {
    return this.#resource.error
  }

  /** True while an action on the same target is running. */
  isBusy(action: ModerationAction): boolean {
    return this.#busy.has(targetOf(action))
  }

  /** True when the author was blocked for this comment. */
  isBlocked(comment: LiveCommentView): boolean {
    return this.senders.some((sender) => sender.commentId === comment.commentId)
  }

  /** Load the whole state. */
  async load(): Promise<void> {
    const arrived = (this.#arrived ??= [])
    await this.#resource.load()
    // A later request is still running: it applies the arrived entries.
    if (this.#resource.busy || arrived !== this.#arrived) return
    this.#arrived = null
    if (this.#resource.error || !this.#resource.value) return
    this.#state = this.#resource.value
    for (const entry of arrived) this.#apply(entry)
  }

  /** Execute an action; true when it is done. A toast shows the error, or how to undo it. */
  async execute(action: ModerationAction): Promise<boolean> {
    const target = targetOf(action)
    if (this.#busy.has(target)) return false
    this.#busy = new Set([...this.#busy, target])
    try {
      const result = await call('POST /api/live/rooms/{room_id}/acts', { path: { room_id: this.room.id }, body: action })
      this.#confirm(action, result)
      return true
    } catch (error) {
      this.#showError(error)
      return false
    } finally {
      this.#busy = new Set([...this.#busy].filter((other) => other !== target))
    }
  }

  #confirm(action: ModerationAction, { entry }: LiveModerationResult): void {
    if (entry) this.#receive(entry)
    // It had no effect: the sender was blocked for another comment, or this page is out of date.
    else void this.load()
    const undo = entry && undoOf(action)
    const key = entry ? `livehost.done.${entry.action}` : `livehost.already.${action.k}`
    if (has(key)) toast(t(key), undo && { label: t('livehost.undo'), run: () => void this.execute(undo) })
  }

  #showError(error: unknown): void {
    const code = errorCode(error)
    const key = `livehost.refused.${code}`
    const limit = error instanceof ApiError ? Number(error.details.most) : 0
    toast(has(key) ? t(key, { n: limit }) : errorText(error))
    if (code === 'no_such_comment' || code === 'unsettled') void this.load()
  }

  #receive(entry: LiveLogView): void {
    const isSame = (other: LiveLogView): boolean => other.logId === entry.logId
    if (this.log.some(isSame) || this.#arrived?.some(isSame)) return
    this.#arrived?.push(entry)
    this.#apply(entry)
  }

  #apply(entry: LiveLogView): void {
    this.#state = { ...this.#state, ...this.#effectOf(entry), log: insertEntry(this.#state.log, entry) }
  }

  #effectOf({ action, subject = '', about, at }: LiveLogView): Partial<LiveHostView> {
    const { words, senders, hidden } = this.#state
    switch (action) {
      case 'BLOCK_WORD':
        return { words: [...new Set([...words, subject])].sort() }
      case 'UNBLOCK_WORD':
        return { words: words.filter((word) => word !== subject) }
      case 'BLOCK_SENDER': {
        const { nickname, anonymousNumber } = this.#find(subject) ?? {}
        return { senders: [...without(senders, subject), { commentId: subject, at, about, nickname, anonymousNumber }] }
      }
      case 'UNBLOCK_SENDER':
        // The sender may have been blocked for another comment.
        if (!senders.some((sender) => sender.commentId === subject)) void this.load()
        return { senders: without(senders, subject) }
      case 'HIDE': {
        const comment = this.#find(subject) ?? hidden.find((known) => known.commentId === subject)
        if (!comment) void this.load()
        return { hidden: [...without(hidden, subject), ...(comment ? [comment] : [])].sort(bySeq) }
      }
      case 'SHOW':
      case 'DELETE':
        return { hidden: without(hidden, subject) }
      default:
        return {}
    }
  }

  #find(commentId: string): LiveCommentView | undefined {
    return this.room.comments.find((comment) => comment.commentId === commentId)
  }
}

function without<T extends { commentId: string }>(all: readonly T[], commentId: string): T[] {
  return all.filter((item) => item.commentId !== commentId)
}

function bySeq(a: LiveCommentView, b: LiveCommentView): number {
  return a.seq < b.seq ? -1 : 1
}

/** The log with one more entry, newest first. No entry quotes a deleted comment. */
function insertEntry(log: readonly LiveLogView[], entry: LiveLogView): LiveLogView[] {
  const others = log.filter((other) => other.logId !== entry.logId)
  const entries = entry.action === 'DELETE' ? others.map((other) => (other.subject === entry.subject ? { ...other, about: undefined } : other)) : others
  const later = entries.filter((other) => other.at > entry.at)
  return [...later, entry, ...entries.slice(later.length)]
}

/** The target of an action; only one action on it runs at a time. */
function targetOf(action: ModerationAction): string {
  if ('commentId' in action) return action.commentId
  return action.k === 'block_word' ? `word ${action.word}` : action.k
}

/** The action that undoes another one; undefined for a deletion, and for the room's controls, which need none. */
function undoOf(action: ModerationAction): ModerationAction | undefined {
  if (action.k !== 'mark' && action.k !== 'block_word' && action.k !== 'block_sender') return undefined
  return { ...action, on: false }
}
