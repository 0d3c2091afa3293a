/**
 * Client of the HTTP API: `await call('GET /api/live/rooms/{room_id}', { path: { room_id } })`.
 *
 * An error response, and a request that never reached the server, throw an `ApiError` with a code; `errorText` has the
 * sentence for it.
 */

import type { Api } from '../generated'

export class ApiError extends Error {
  constructor(
    /** 0 when there was no response. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    /** Seconds until a retry makes sense, where the server says so. */
    readonly retryAfter?: number,
  ) {
    super(message)
  }
}

/** The arguments of an operation: path parameters, query and body. */
type Options<K extends keyof Api> = (Api[K] extends { path: infer P } ? { path: P } : { path?: never }) &
  (Api[K] extends { query: infer Q } ? { query?: Q } : { query?: never }) &
  (Api[K] extends { body: infer B } ? { body: B } : { body?: never }) & { signal?: AbortSignal }
type Arguments<K extends keyof Api> = Api[K] extends { path: unknown } | { body: unknown } ? [options: Options<K>] : [options?: Options<K>]

interface UntypedOptions {
  path?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  signal?: AbortSignal
}

/** Call an operation. An aborted call rejects with the reason of its signal. */
export async function call<K extends keyof Api>(operation: K, ...given: Arguments<K>): Promise<Api[K]['answer']> {
  const [method, template] = operation.split(' ') as [string, string]
  const options = given[0] as UntypedOptions | undefined
  const response = await request(buildUrl(template, options), {
    method,
    signal: options?.signal,
    credentials: 'same-origin',
    headers: { Accept: 'application/json', ...(options?.body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(options?.body !== undefined && { body: JSON.stringify(options.body) }),
  })
  return (await readResponse(response)) as Api[K]['answer']
}

/** The decoded body of a response; throws the `ApiError` in it. */
export async function readResponse(response: Response): Promise<unknown> {
  const text = await response.text().catch(() => '')
  const body = parseJson(text)
  if (response.ok && (text === '' || body !== undefined)) return body
  throw errorOf(response, body)
}

/** The URL of an operation, with its path parameters and query filled in. */
export function buildUrl(template: string, options: Pick<UntypedOptions, 'path' | 'query'> = {}): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(options.path?.[name] ?? ''))
  const given = Object.entries(options.query ?? {}).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length ? `${path}?${query}` : path
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw offlineError()
  }
}

/** There was no response. */
export function offlineError(): ApiError {
  return new ApiError(0, 'offline', 'The server cannot be reached.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function errorOf(response: Response, body: unknown): ApiError {
  const problem = (body as { error?: { code?: string; message?: string; details?: Record<string, unknown> } } | null | undefined)?.error
  const details = problem?.details ?? {}
  const wait = Number(response.headers.get('Retry-After') || details.retry_after || NaN)
  return new ApiError(
    response.status, problem?.code ?? 'unexpected', problem?.message ?? response.statusText, details,
    Number.isFinite(wait) ? wait : undefined,
  )
}
