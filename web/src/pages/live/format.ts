/** Comments and errors of live rooms as the pages show them. */

import type { LiveCommentView } from '../../generated'
import { errorCode, errorText } from '../../lib/errorText'
import { timeOfDay } from '../../lib/formats'
import { has, t } from '../../lib/texts.svelte'

/** The nickname that the server stores for a comment without one. */
export const ANONYMOUS = 'Anonymous'

export type Author = Pick<LiveCommentView, 'nickname' | 'host' | 'anonymousNumber'>

export function isAnonymous(author: Author): boolean {
  return author.nickname === ANONYMOUS
}

/** The author of a comment. Somebody without a nickname has a number, in the reader's language. */
export function authorName(author: Author): string {
  if (!isAnonymous(author)) return author.nickname
  if (author.host) return t('live.host')
  return author.anonymousNumber ? t('live.anonymousNumber', { n: author.anonymousNumber }) : t('live.anonymous')
}

/** The author as screen readers announce a new comment, with the word for the host. */
export function spokenAuthor(author: Author): string {
  return author.host && !isAnonymous(author) ? `${authorName(author)} (${t('live.host')})` : authorName(author)
}

/** The sentence for an error of a room; codes that only live rooms have are in `live.refused`. */
export function roomErrorText(error: unknown): string {
  const key = `live.refused.${errorCode(error)}`
  return has(key) ? t(key) : errorText(error)
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
