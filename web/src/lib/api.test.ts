import { afterEach, expect, test, vi } from 'vitest'
import { buildUrl, ApiError, call } from './api'

afterEach(() => vi.unstubAllGlobals())

function answers(body: string | null, init: ResponseInit = {}): ReturnType<typeof vi.fn> {
  const fetch = vi.fn(() => Promise.resolve(new Response(body, init)))
  vi.stubGlobal('fetch', fetch)
  return fetch
}

async function refused(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(() => null, (reason: unknown) => reason)
  expect(error).toBeInstanceOf(ApiError)
  return error as ApiError
}

test('names in a path cannot leave it', () => {
  expect(buildUrl('/api/keys/{id}', { path: { id: '../me?x=1#y' } })).toBe('/api/keys/..%2Fme%3Fx%3D1%23y')
})

test('what is not given is not asked', () => {
  expect(buildUrl('/api/jobs', { query: { state: 'dead', after: undefined, limit: 5 } })).toBe('/api/jobs?state=dead&limit=5')
})

test('a body travels as JSON, and the answer comes back as it is', async () => {
  const fetch = answers('{"name":"さくら"}')
  expect(await call('POST /api/sessions', { body: { name: 'さくら', password: 'secret' } })).toEqual({ name: 'さくら' })
  const [url, init] = fetch.mock.calls[0] as [string, RequestInit]
  expect(url).toBe('/api/sessions')
  expect(init).toMatchObject({ method: 'POST', body: '{"name":"さくら","password":"secret"}' })
  expect(new Headers(init.headers).get('Content-Type')).toBe('application/json')
})

test('an empty answer is an answer', async () => {
  answers(null, { status: 204 })
  expect(await call('DELETE /api/sessions/current')).toBeUndefined()
})

test('a refusal keeps its code, its details and how long to wait', async () => {
  const body = '{"error":{"code":"too_many_requests","message":"Slowly","details":{"retry_after":2.5}}}'
  answers(body, { status: 429, headers: { 'Retry-After': '3' } })
  const error = await refused(call('GET /api/me'))
  expect(error).toMatchObject({ status: 429, code: 'too_many_requests', message: 'Slowly', retryAfter: 3 })
})

test('an error page of something in between is an error without a code of ours', async () => {
  answers('<h1>Bad gateway</h1>', { status: 502, statusText: 'Bad Gateway' })
  expect(await refused(call('GET /api/me'))).toMatchObject({ status: 502, code: 'unexpected' })
})

test('a page where JSON was expected is no answer', async () => {
  answers('<h1>Sign in to the Wi-Fi</h1>', { status: 200 })
  expect(await refused(call('GET /api/me'))).toMatchObject({ code: 'unexpected' })
})

test('a server that cannot be reached is told apart from one that says no', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')))
  expect(await refused(call('GET /api/me'))).toMatchObject({ status: 0, code: 'offline' })
})

test('an aborted call is neither', async () => {
  const stop = new AbortController()
  stop.abort()
  vi.stubGlobal('fetch', (_: string, init: RequestInit) => Promise.reject(init.signal?.reason))
  await expect(call('GET /api/me', { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
})
