/**
 * What a host does in a room, and what only the host sees of it: the log, what is kept out, and what is hidden.
 *
 * Nothing is shown as done before the server says so. Each act comes back twice, as the answer and over the socket, and to
 * the host's other windows once: by the id of its entry it counts once.
 */

import type { Api, LiveModerationResult, LiveBlockedSender, LiveCommentView, LiveLogView, LiveHostView } from '../../../generated'
import { ApiError, call } from '../../../lib/api'
import { Asked } from '../../../lib/resource.svelte'
import { codeOf, said } from '../../../lib/errorText'
import { has, t } from '../../../lib/texts.svelte'
import { toast } from '../../../lib/toasts.svelte'

export type Act = Api['POST /api/live/rooms/{room_id}/acts']['body']

/** What the host's side needs of a room. */
export interface Hosted {
  readonly id: string
  readonly comments: readonly LiveCommentView[]
  onModerated: ((entry: LiveLogView) => void) | null
  onRenewed: (() => void) | null
}

const NOTHING: LiveHostView = { log: [], words: [], senders: [], hidden: [] }

export class Moderation {
  #seen = $state.raw<LiveHostView>(NOTHING)
  #busy = $state.raw<ReadonlySet<string>>(new Set())
  /** What was heard while everything is fetched: the answer may be from before. */
  #heard: LiveLogView[] | null = null
  #asked: Asked<LiveHostView>

  constructor(readonly room: Hosted) {
    const path = { room_id: room.id }
    this.#asked = new Asked((signal) => call('GET /api/live/rooms/{room_id}/moderation', { path, signal }))
    room.onModerated = (entry) => this.#happened(entry)
    room.onRenewed = () => void this.load()
  }

  /** What the host did, newest first. */
  get log(): readonly LiveLogView[] {
    return this.#seen.log
  }

  get words(): readonly string[] {
    return this.#seen.words
  }

  get senders(): readonly LiveBlockedSender[] {
    return this.#seen.senders
  }

  /** The comments that are hidden, in the order of the room. */
  get hidden(): readonly LiveCommentView[] {
    return this.#seen.hidden
  }

  /** Why all this could not be fetched; null while it is or can be. */
  get error(): unknown {
    return this.#asked.error
  }

  /** True while the server has not answered an act on the same thing. */
  isBusy(act: Act): boolean {
    return this.#busy.has(thingOf(act))
  }

  /** True when whoever wrote this comment is kept out because of it. */
  isBlocked(comment: LiveCommentView): boolean {
    return this.senders.some((sender) => sender.commentId === comment.commentId)
  }

  /** Fetch everything anew. */
  async load(): Promise<void> {
    const heard = (this.#heard ??= [])
    await this.#asked.load()
    // A later question is still open: it gets what was heard.
    if (this.#asked.busy || heard !== this.#heard) return
    this.#heard = null
    if (this.#asked.error || !this.#asked.value) return
    this.#seen = this.#asked.value
    for (const entry of heard) this.#apply(entry)
  }

  /** Do something in the room. What went wrong is said in passing, and so is how to undo it; true when it is done. */
  async act(act: Act): Promise<boolean> {
    const thing = thingOf(act)
    if (this.#busy.has(thing)) return false
    this.#busy = new Set([...this.#busy, thing])
    try {
      const done = await call('POST /api/live/rooms/{room_id}/acts', { path: { room_id: this.room.id }, body: act })
      this.#done(act, done)
      return true
    } catch (error) {
      this.#refused(error)
      return false
    } finally {
      this.#busy = new Set([...this.#busy].filter((one) => one !== thing))
    }
  }

  #done(act: Act, { entry }: LiveModerationResult): void {
    if (entry) this.#happened(entry)
    // It was so already: by another comment of theirs, or this page has not heard of it.
    else void this.load()
    const undone = entry && undoing(act)
    const key = entry ? `livehost.done.${entry.action}` : `livehost.already.${act.k}`
    if (has(key)) toast(t(key), undone && { label: t('livehost.undo'), run: () => void this.act(undone) })
  }

  #refused(error: unknown): void {
    const code = codeOf(error)
    const key = `livehost.refused.${code}`
    const most = error instanceof ApiError ? Number(error.details.most) : 0
    toast(has(key) ? t(key, { n: most }) : said(error))
    if (code === 'no_such_comment' || code === 'unsettled') void this.load()
  }

  #happened(entry: LiveLogView): void {
    const isKnown = (one: LiveLogView): boolean => one.logId === entry.logId
    if (this.log.some(isKnown) || this.#heard?.some(isKnown)) return
    this.#heard?.push(entry)
    this.#apply(entry)
  }

  #apply(entry: LiveLogView): void {
    this.#seen = { ...this.#seen, ...this.#effect(entry), log: logged(this.#seen.log, entry) }
  }

  #effect({ action, subject = '', about, at }: LiveLogView): Partial<LiveHostView> {
    const { words, senders, hidden } = this.#seen
    switch (action) {
      case 'BLOCK_WORD':
        return { words: [...new Set([...words, subject])].sort() }
      case 'UNBLOCK_WORD':
        return { words: words.filter((word) => word !== subject) }
      case 'BLOCK_SENDER': {
        const nickname = this.#said(subject)?.nickname
        return { senders: [...without(senders, subject), { commentId: subject, at, about, nickname }] }
      }
      case 'UNBLOCK_SENDER':
        // They may have been let in by another comment of theirs.
        if (!senders.some((sender) => sender.commentId === subject)) void this.load()
        return { senders: without(senders, subject) }
      case 'HIDE': {
        const comment = this.#said(subject) ?? hidden.find((one) => one.commentId === subject)
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

  #said(commentId: string): LiveCommentView | undefined {
    return this.room.comments.find((comment) => comment.commentId === commentId)
  }
}

function without<T extends { commentId: string }>(all: readonly T[], commentId: string): T[] {
  return all.filter((one) => one.commentId !== commentId)
}

function bySeq(one: LiveCommentView, other: LiveCommentView): number {
  return one.seq < other.seq ? -1 : 1
}

/** The log with one entry more, newest first. What a deleted comment said is in none of them. */
function logged(log: readonly LiveLogView[], entry: LiveLogView): LiveLogView[] {
  const others = log.filter((one) => one.logId !== entry.logId)
  const kept = entry.action === 'DELETE' ? others.map((one) => (one.subject === entry.subject ? { ...one, about: undefined } : one)) : others
  const later = kept.filter((one) => one.at > entry.at)
  return [...later, entry, ...kept.slice(later.length)]
}

/** What an act is about: nothing is done to the same thing twice at a time. */
function thingOf(act: Act): string {
  if ('commentId' in act) return act.commentId
  return act.k === 'block_word' ? `word ${act.word}` : act.k
}

/** What takes an act back; none for what stays as it is, and for what is seen and changed at one place anyway. */
function undoing(act: Act): Act | undefined {
  if (act.k !== 'mark' && act.k !== 'block_word' && act.k !== 'block_sender') return undefined
  return { ...act, on: false }
}
