import { expect, test } from 'vitest'
import { splitByHits } from './searchHits'

/** The text with brackets around the hits. */
function bracketed(text: string, query: string): string {
  return splitByHits(text, query).map((piece) => (piece.isHit ? `[${piece.text}]` : piece.text)).join('')
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
])('%s has %s', (text, query, expected) => {
  expect(bracketed(text, query)).toBe(expected)
  expect(splitByHits(text, query).map((piece) => piece.text).join('')).toBe(text)
})
