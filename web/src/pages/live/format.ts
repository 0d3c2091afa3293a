/** Comments and errors of live rooms as the pages show them. */

import type { LiveCommentView } from '../../generated'
import { errorCode, errorText } from '../../lib/errorText'
import { timeOfDay } from '../../lib/formats'
import { has, t } from '../../lib/texts.svelte'

/** The nickname that the server stores for a comment without one. */
export const ANONYMOUS = 'Anonymous'

/** The author of a comment; an anonymous one is named in the reader's language. */
export function authorName(comment: Pick<LiveCommentView, 'nickname'>): string {
  return comment.nickname === ANONYMOUS ? t('live.anonymous') : comment.nickname
}

/** The sentence for an error of a room; codes that only live rooms have are in `live.refused`. */
export function roomErrorText(error: unknown): string {
  const key = `live.refused.${errorCode(error)}`
  return has(key) ? t(key) : errorText(error)
}

/**
 * The language of a comment by its script, for the shape of kanji and for line breaks; undefined where the page's language
 * fits.
 */
export function languageOf(text: string): 'ja' | 'ko' | undefined {
  if (/[\u3041-\u30ff]/.test(text)) return 'ja'
  return /[\uac00-\ud7a3]/.test(text) ? 'ko' : undefined
}

/** The times of day to show, by `seq`: only the first comment of each minute has one. */
export function minuteTimes(comments: readonly LiveCommentView[]): Map<string, string> {
  const firsts = comments.filter((comment, at) => startsMinute(comment, comments[at - 1]))
  return new Map(firsts.map((comment) => [comment.seq, timeOfDay(Date.parse(comment.createdAt))]))
}

/** True when a comment was written in another minute than the one before it. */
export function startsMinute(comment: LiveCommentView, previous: LiveCommentView | undefined): boolean {
  return comment.createdAt.slice(0, 16) !== previous?.createdAt.slice(0, 16)
}
