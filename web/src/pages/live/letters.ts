/** The language of a comment, by its letters: people write in theirs, whatever the page speaks. */

/** What decides the shape of kanji and where lines may break; undefined where that is as on the rest of the page. */
export function languageOf(text: string): 'ja' | 'ko' | undefined {
  if (/[\u3041-\u30ff]/.test(text)) return 'ja'
  return /[\uac00-\ud7a3]/.test(text) ? 'ko' : undefined
}
