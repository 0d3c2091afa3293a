/** The name that somebody goes by in live rooms, kept in this browser. */

const KEY = 'zataku.nickname'
export const LONGEST_NICKNAME = 30

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
