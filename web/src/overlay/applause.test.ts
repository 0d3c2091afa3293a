import { expect, test } from 'vitest'
import { Burst } from './applause'

test('twenty claps within three seconds are an applause, nineteen are not', () => {
  const burst = new Burst()
  expect(burst.heard(10, 0)).toBe(false)
  expect(burst.heard(9, 2_999)).toBe(false)
  expect(burst.heard(1, 2_999)).toBe(true)
  const slow = new Burst()
  expect(slow.heard(10, 0)).toBe(false)
  expect(slow.heard(10, 3_000)).toBe(false)
})

test('an applause happens once, until it has died down', () => {
  const burst = new Burst()
  expect(burst.heard(25, 0)).toBe(true)
  for (let now = 250; now < 8_000; now += 250) expect(burst.heard(5, now)).toBe(false)
  expect(burst.heard(25, 8_000)).toBe(false)
  expect(burst.heard(1, 11_500)).toBe(false)
  expect(burst.heard(25, 12_000)).toBe(true)
})
