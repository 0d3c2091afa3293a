/** Fixtures of the tests of live rooms: a room with a fake server. */

import { afterEach, beforeEach, vi } from 'vitest'
import type { LiveCommentView, LiveEvent, LiveRoomView, LiveSnapshot } from '../../../generated'
import { FakeSocket } from '../../../lib/socket/fakeSocket'
import type { LiveRoom } from './room.svelte'

/** The HTTP responses by URL, in turn; an unknown URL answers 404. */
export const responses: Record<string, unknown[]> = {}
export const requested: string[] = []

export const ROOM: LiveRoomView = { roomId: 'A', name: 'Types', status: 'OPEN', createdAt: '' }
export const NOW = 1_000_000

/** Before each test a new browser: fake sockets, a stopped clock, and empty storage. */
export function useFakeServer(): void {
  // The first import of a room is slow on a busy machine.
  vi.setConfig({ testTimeout: 20_000 })
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW })
    vi.resetModules()
    FakeSocket.opened = []
    requested.length = 0
    for (const url of Object.keys(responses)) delete responses[url]
    responses['/api/live/rooms/A'] = [ROOM]
    vi.stubGlobal('WebSocket', FakeSocket)
    vi.stubGlobal('document', { addEventListener: () => undefined, visibilityState: 'visible', documentElement: { lang: 'en' } })
    vi.stubGlobal('addEventListener', () => undefined)
    vi.stubGlobal('location', { protocol: 'http:', host: 'table' })
    vi.stubGlobal('localStorage', createStorage())
    vi.stubGlobal('sessionStorage', createStorage())
    vi.stubGlobal('fetch', (url: string) => {
      requested.push(url)
      const response = responses[url]?.shift()
      if (response instanceof Error) return Promise.reject(response)
      const notFound = { error: { code: 'no_such_room', message: '', details: {} } }
      return Promise.resolve(new Response(JSON.stringify(response ?? notFound), { status: response ? 200 : 404 }))
    })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })
}

function createStorage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const items = new Map<string, string>()
  return { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => void items.set(key, value), removeItem: (key) => void items.delete(key) }
}

export const seq = (position: number): string => String(position).padStart(12, '0')

export function comment(position: number, content = `c${position}`, commentId = `id-${position}`): LiveCommentView {
  return { commentId, seq: seq(position), content, nickname: 'Anonymous', createdAt: new Date(NOW).toISOString() }
}

export const commented = (position: number): LiveEvent => ({ k: 'commented', comment: comment(position) })

/** Enter the room, as its host or not; the socket is opened, and nothing was sent on it yet. */
export async function enter({ mine = false } = {}): Promise<LiveRoom> {
  responses['/api/live/rooms/A'] = [{ ...ROOM, mine }]
  const { LiveRoom } = await import('./room.svelte')
  const room = new LiveRoom('A')
  await room.enter()
  return room
}

/** The server welcomes the socket and sends a snapshot of the room. */
export function confirmJoin(comments: LiveCommentView[], fields: Partial<LiveSnapshot> = {}, epoch = 1): FakeSocket {
  const socket = FakeSocket.last.welcome()
  const snapshot = { room: ROOM, comments, ...fields }
  socket.deliver({ t: 'joined', id: socket.lastSent('join').id, to: 'live/A', channel: 1, at: { epoch, seq: 0 }, snapshot, here: 2 })
  return socket
}

/** The socket disconnects, and the next one is opened. */
export async function disconnect(socket: FakeSocket): Promise<void> {
  socket.disconnect()
  while (FakeSocket.last === socket) await vi.advanceTimersByTimeAsync(500)
}

/** The next socket resumes at the last position, with the events since then. */
export function resume(after: number, ...events: LiveEvent[]): FakeSocket {
  const socket = FakeSocket.last.welcome()
  socket.deliver({ t: 'joined', id: socket.lastSent('join').id, to: 'live/A', channel: 1, at: { epoch: 1, seq: after + events.length } })
  if (events.length) deliverEvents(socket, after, ...events)
  return socket
}

export function deliverEvents(socket: FakeSocket, after: number, ...events: LiveEvent[]): void {
  socket.deliver({ t: 'events', to: 'live/A', epoch: 1, after, seq: after + events.length, events })
}

/** The server replies to the last command. */
export function reply(socket: FakeSocket, result: unknown): void {
  socket.deliver({ t: 'done', id: socket.lastSent('do').id, result })
}

export function reject(socket: FakeSocket, code: string, details: Record<string, unknown> = {}): void {
  socket.deliver({ t: 'refused', id: socket.lastSent('do').id, error: { code, message: '', details } })
}

export const contents = (room: LiveRoom): string[] => room.comments.map((comment) => comment.content)
