/** The name that somebody goes by in live rooms, kept in this browser. */

import type { LiveCommentView } from '../../generated'
import { t } from '../../lib/texts.svelte'

const KEY = 'zataku.nickname'
const ANONYMOUS = 'Anonymous'
export const LONGEST_NICKNAME = 30

/** Who said it; whoever gave no name is called so in the reader's language. */
export function shownName(comment: LiveCommentView): string {
  return comment.nickname === ANONYMOUS ? t('live.anonymous') : comment.nickname
}

/** Null when nobody chose one here; empty for somebody who wants none. */
export function keptNickname(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

export function keepNickname(nickname: string): void {
  try {
    localStorage.setItem(KEY, nickname)
  } catch {
    // A browser that keeps nothing asks again the next time.
  }
}
