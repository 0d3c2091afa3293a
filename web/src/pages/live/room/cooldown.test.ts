import { expect, test, vi } from 'vitest'
import { setStage } from './fixtures'
import { Wait } from './cooldown.svelte'

setStage()

test('seconds are counted down by the clock, so that a phone that slept has waited, too', async () => {
  const wait = new Wait()
  wait.start(30)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(wait.left).toBe(29)
  vi.setSystemTime(Date.now() + 25_000)
  await vi.advanceTimersByTimeAsync(250)
  expect(wait.left).toBe(4)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(wait.left).toBe(0)
  wait.start(3)
  wait.stop()
  expect(wait.left).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})
