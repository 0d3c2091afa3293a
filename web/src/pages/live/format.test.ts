import { expect, test } from 'vitest'
import { useFakeServer } from './room/fixtures'

useFakeServer()

test.each([
  ['その図、あとで', 'ja'],
  ['テスト test', 'ja'],
  ['저도 궁금해요', 'ko'],
  ['한국어와 にほんご', 'ja'],
  ['same here! 8888', undefined],
  ['質問', undefined],
])('%s is written in %s', async (text, language) => {
  const { languageOf } = await import('./format')
  expect(languageOf(text)).toBe(language)
})
