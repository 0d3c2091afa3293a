import { expect, test } from 'vitest'
import { languageOf } from './languageOf'

test.each([
  ['その図、あとで', 'ja'],
  ['テスト test', 'ja'],
  ['저도 궁금해요', 'ko'],
  ['한국어와 にほんご', 'ja'],
])('the language of %s is %s', (text, language) => {
  expect(languageOf(text)).toBe(language)
})

test.each(['same here! 8888', '質問'])('the letters of %s do not tell its language', (text) => {
  expect(languageOf(text)).toBeUndefined()
})
