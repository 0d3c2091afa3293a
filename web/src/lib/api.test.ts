import { afterEach, expect, test, vi } from 'vitest'
import { buildUrl, ApiError, call } from './api'

afterEach(() => vi.unstubAllGlobals())

function stubFetch(body: string | null, init: ResponseInit = {}): ReturnType<typeof vi.fn> {
  const fetch = vi.fn(() => Promise.resolve(new Response(body, init)))
  vi.stubGlobal('fetch', fetch)
  return fetch
}

async function apiErrorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(() => null, (reason: unknown) => reason)
  expect(error).toBeInstanceOf(ApiError)
  return error as ApiError
}

test('parameters in a path are escaped', () => {
  expect(buildUrl('/api/keys/{id}', { path: { id: '../me?x=1#y' } })).toBe('/api/keys/..%2Fme%3Fx%3D1%23y')
})

test('an undefined query parameter is left out', () => {
  expect(buildUrl('/api/jobs', { query: { state: 'dead', after: undefined, limit: 5 } })).toBe('/api/jobs?state=dead&limit=5')
})

test('a body is sent as JSON, and the parsed response is returned', async () => {
  const fetch = stubFetch('{"name":"さくら"}')
  expect(await call('POST /api/sessions', { body: { name: 'さくら', password: 'secret' } })).toEqual({ name: 'さくら' })
  const [url, init] = fetch.mock.calls[0] as [string, RequestInit]
  expect(url).toBe('/api/sessions')
  expect(init).toMatchObject({ method: 'POST', body: '{"name":"さくら","password":"secret"}' })
  expect(new Headers(init.headers).get('Content-Type')).toBe('application/json')
})

test('an empty response is undefined', async () => {
  stubFetch(null, { status: 204 })
  expect(await call('DELETE /api/sessions/current')).toBeUndefined()
})

test('an error has the code, the message and the retry time of the response', async () => {
  const body = '{"error":{"code":"too_many_requests","message":"Slowly","details":{"retry_after":2.5}}}'
  stubFetch(body, { status: 429, headers: { 'Retry-After': '3' } })
  const error = await apiErrorOf(call('GET /api/me'))
  expect(error).toMatchObject({ status: 429, code: 'too_many_requests', message: 'Slowly', retryAfter: 3 })
})

test('an error page of a proxy has the code unexpected', async () => {
  stubFetch('<h1>Bad gateway</h1>', { status: 502, statusText: 'Bad Gateway' })
  expect(await apiErrorOf(call('GET /api/me'))).toMatchObject({ status: 502, code: 'unexpected' })
})

test('a successful response that is not JSON is an error', async () => {
  stubFetch('<h1>Sign in to the Wi-Fi</h1>', { status: 200 })
  expect(await apiErrorOf(call('GET /api/me'))).toMatchObject({ code: 'unexpected' })
})

test('an unreachable server has the code offline', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')))
  expect(await apiErrorOf(call('GET /api/me'))).toMatchObject({ status: 0, code: 'offline' })
})

test('an aborted call rejects with an AbortError', async () => {
  const stop = new AbortController()
  stop.abort()
  vi.stubGlobal('fetch', (_: string, init: RequestInit) => Promise.reject(init.signal?.reason))
  await expect(call('GET /api/me', { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' })
})
