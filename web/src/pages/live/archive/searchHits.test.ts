import { expect, test } from 'vitest'
import { pieces } from './searchHits'

/** The text with brackets around what was found. */
function shown(text: string, wanted: string): string {
  return pieces(text, wanted).map((piece) => (piece.hit ? `[${piece.text}]` : piece.text)).join('')
}

test.each([
  ['How do you test stale reads?', 'STALE', 'How do you test [stale] reads?'],
  ['ＺＡＴＡＫＵ and zataku', 'zataku', '[ＺＡＴＡＫＵ] and [zataku]'],
  ['ｶﾞｯﾂ!', 'ガッツ', '[ｶﾞｯﾂ]!'],
  ['Straße', 'strasse', '[Straße]'],
  ['Straße', 's', '[S]tra[ß]e'],
  ['한글과 한글', ' 한글 ', '[한글]과 [한글]'],
  ['が', 'か', 'が'],
  ['👨‍👩‍👧‍👦 家族', '家', '👨‍👩‍👧‍👦 [家]族'],
  ['<b>bold</b>', '<b>', '[<b>]bold</b>'],
  ['a.b', '.', 'a[.]b'],
  ['aaa', 'aa', '[aa]a'],
  ['nothing', 'zzz', 'nothing'],
  ['nothing', '  ', 'nothing'],
])('%s has %s', (text, wanted, expected) => {
  expect(shown(text, wanted)).toBe(expected)
  expect(pieces(text, wanted).map((piece) => piece.text).join('')).toBe(text)
})
