import { expect, test } from 'vitest'
import { ApplauseDetector } from './reactions'

test('twenty claps within three seconds are an applause, nineteen are not', () => {
  const applause = new ApplauseDetector()
  expect(applause.add(10, 0)).toBe(false)
  expect(applause.add(9, 2_999)).toBe(false)
  expect(applause.add(1, 2_999)).toBe(true)
  const slow = new ApplauseDetector()
  expect(slow.add(10, 0)).toBe(false)
  expect(slow.add(10, 3_000)).toBe(false)
})

test('an applause is reported once, until it has died down', () => {
  const applause = new ApplauseDetector()
  expect(applause.add(25, 0)).toBe(true)
  for (let now = 250; now < 8_000; now += 250) expect(applause.add(5, now)).toBe(false)
  expect(applause.add(25, 8_000)).toBe(false)
  expect(applause.add(1, 11_500)).toBe(false)
  expect(applause.add(25, 12_000)).toBe(true)
})
