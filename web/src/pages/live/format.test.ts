import { expect, test } from 'vitest'
import { useFakeServer } from './room/fixtures'

useFakeServer()

test.each([
  ['その図、あとで', 'ja'],
  ['テスト test', 'ja'],
  ['저도 궁금해요', 'ko'],
  ['한국어와 にほんご', 'ja'],
])('the language of %s is %s', async (text, language) => {
  const { languageOf } = await import('./format')
  expect(languageOf(text)).toBe(language)
})

test.each(['same here! 8888', '質問'])('the letters of %s do not tell its language', async (text) => {
  const { languageOf } = await import('./format')
  expect(languageOf(text)).toBeUndefined()
})
