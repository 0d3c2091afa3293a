/**
 * The language of what somebody has written, by its script, for the shape of kanji and for line breaks; undefined where the
 * page's language fits.
 */
export function languageOf(text: string): 'ja' | 'ko' | undefined {
  if (/[\u3041-\u30ff]/.test(text)) return 'ja'
  return /[\uac00-\ud7a3]/.test(text) ? 'ko' : undefined
}
