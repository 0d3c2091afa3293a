/**
 * The HTTP API from the pages: `await call('GET /api/live/rooms/{room_id}', { path: { room_id } })`.
 *
 * What the server refuses, and what never reached it, is an `ApiError` with a code; `said` has its words.
 */

import type { Api } from '../generated'

export class ApiError extends Error {
  constructor(
    /** 0 when there was no answer. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    /** Seconds until it is worth asking again, where the server says so. */
    readonly retryAfter?: number,
  ) {
    super(message)
  }
}

/** What an operation takes: the names in its path, what stands behind it, and its body. */
type Given<K extends keyof Api> = (Api[K] extends { path: infer P } ? { path: P } : { path?: never }) &
  (Api[K] extends { query: infer Q } ? { query?: Q } : { query?: never }) &
  (Api[K] extends { body: infer B } ? { body: B } : { body?: never }) & { signal?: AbortSignal }
type Arguments<K extends keyof Api> = Api[K] extends { path: unknown } | { body: unknown } ? [asked: Given<K>] : [asked?: Given<K>]

interface Loose {
  path?: Record<string, string>
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  signal?: AbortSignal
}

/** Ask the server for something. An aborted call rejects with the reason of its signal. */
export async function call<K extends keyof Api>(operation: K, ...given: Arguments<K>): Promise<Api[K]['answer']> {
  const [method, template] = operation.split(' ') as [string, string]
  const asked = given[0] as Loose | undefined
  const response = await reach(address(template, asked), {
    method,
    signal: asked?.signal,
    credentials: 'same-origin',
    headers: { Accept: 'application/json', ...(asked?.body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(asked?.body !== undefined && { body: JSON.stringify(asked.body) }),
  })
  return (await answerOf(response)) as Api[K]['answer']
}

/** What an answer holds, or the refusal in it. */
export async function answerOf(response: Response): Promise<unknown> {
  const text = await response.text().catch(() => '')
  const answer = parsed(text)
  if (response.ok && (text === '' || answer !== undefined)) return answer
  throw refusal(response, answer)
}

/** Send a file as it is, and hear how much of it is on its way, from 0 to 1, which `fetch` does not tell. */
export function send(url: string, file: File, onprogress: (share: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', url)
    request.setRequestHeader('Accept', 'application/json')
    request.setRequestHeader('Content-Type', 'application/octet-stream')
    request.upload.onprogress = ({ loaded, total }) => onprogress(total ? loaded / total : 0)
    request.onerror = () => reject(unreachable())
    request.onload = () => {
      const headers = { 'Retry-After': request.getResponseHeader('Retry-After') ?? '' }
      answerOf(new Response(request.responseText || null, { status: request.status, statusText: request.statusText, headers })).then(() => resolve(), reject)
    }
    request.send(file)
  })
}

/** Where an operation lies, with the names in its path and what is asked behind it. */
export function address(template: string, asked: Pick<Loose, 'path' | 'query'> = {}): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(asked.path?.[name] ?? ''))
  const given = Object.entries(asked.query ?? {}).filter(([, value]) => value !== undefined)
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length ? `${path}?${query}` : path
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw unreachable()
  }
}

function unreachable(): ApiError {
  return new ApiError(0, 'offline', 'The server cannot be reached.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function refusal(response: Response, answer: unknown): ApiError {
  const problem = (answer as { error?: { code?: string; message?: string; details?: Record<string, unknown> } } | null | undefined)?.error
  const details = problem?.details ?? {}
  const wait = Number(response.headers.get('Retry-After') || details.retry_after || NaN)
  return new ApiError(
    response.status, problem?.code ?? 'unexpected', problem?.message ?? response.statusText, details,
    Number.isFinite(wait) ? wait : undefined,
  )
}
