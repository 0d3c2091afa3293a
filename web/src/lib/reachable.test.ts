import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiError } from './api'
import { isUnreachable, reloadWhenReachable, whenReachable } from './reachable'
import { Resource } from './resource.svelte'

let browser: EventTarget
let page: EventTarget & { visibilityState: string }
let up: boolean
let probes: number
let reloads: number

beforeEach(() => {
  vi.useFakeTimers()
  browser = new EventTarget()
  page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  up = false
  probes = reloads = 0
  const items = new Map<string, string>()
  vi.stubGlobal('document', page)
  vi.stubGlobal('addEventListener', browser.addEventListener.bind(browser))
  vi.stubGlobal('location', { reload: () => (reloads += 1) })
  vi.stubGlobal('sessionStorage', { getItem: (key: string) => items.get(key) ?? null, setItem: (key: string, value: string) => void items.set(key, value) })
  vi.stubGlobal('fetch', () => {
    probes += 1
    return up ? Promise.resolve(new Response('ok')) : Promise.reject(new TypeError('Failed to fetch'))
  })
})
afterEach(async () => {
  // The callers of all tests wait together.
  up = true
  await vi.advanceTimersByTimeAsync(60_000)
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function settled(promise: Promise<unknown>): { done: boolean } {
  const state = { done: false }
  void promise.then(() => (state.done = true))
  return state
}

test('an answer is waited for with growing delays', async () => {
  const waiting = settled(whenReachable())
  await vi.advanceTimersByTimeAsync(60_000)
  expect(waiting.done).toBe(false)
  expect(probes).toBeLessThan(15)
  up = true
  await vi.advanceTimersByTimeAsync(15_000)
  expect(waiting.done).toBe(true)
})

test('the server is asked at once when the browser is online again, or the page is shown', async () => {
  for (const [target, event] of [[browser, 'online'], [page, 'visibilitychange']] as const) {
    up = false
    const waiting = settled(whenReachable())
    await vi.advanceTimersByTimeAsync(60_000)
    up = true
    target.dispatchEvent(new Event(event))
    await vi.advanceTimersByTimeAsync(0)
    expect(waiting.done, event).toBe(true)
  }
})

test('all callers wait for the same answer', async () => {
  const all = [settled(whenReachable()), settled(whenReachable())]
  up = true
  await vi.advanceTimersByTimeAsync(15_000)
  expect(probes).toBe(1)
  expect(all.every((waiting) => waiting.done)).toBe(true)
})

test('a resource that could not be reached is loaded when the server answers', async () => {
  const replies: (() => Promise<string>)[] = [() => Promise.reject(new ApiError(0, 'offline', '')), () => Promise.resolve('loaded')]
  const resource = new Resource(() => replies.shift()!())
  await resource.load()
  expect(resource.value).toBeUndefined()
  expect(isUnreachable(resource.error)).toBe(true)
  up = true
  browser.dispatchEvent(new Event('online'))
  await vi.advanceTimersByTimeAsync(0)
  expect(resource).toMatchObject({ value: 'loaded', error: null })
})

test('a resource that the server refuses, or that was stopped, is not loaded again', async () => {
  let requests = 0
  const refused = new Resource(() => {
    requests += 1
    return Promise.reject(new ApiError(403, 'forbidden', ''))
  })
  const stopped = new Resource(() => {
    requests += 1
    return Promise.reject(new ApiError(0, 'offline', ''))
  })
  await Promise.all([refused.load(), stopped.load()])
  stopped.stop()
  up = true
  await vi.advanceTimersByTimeAsync(60_000)
  expect(requests).toBe(2)
})

test('a page that fails again right after it was loaded again is not loaded for ever', async () => {
  up = true
  const first = reloadWhenReachable()
  await vi.advanceTimersByTimeAsync(15_000)
  expect(await first).toBe(true)
  expect(await reloadWhenReachable()).toBe(false)
  expect(reloads).toBe(1)
})
