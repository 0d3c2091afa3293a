/** What the tests of a live room share: a room whose server is played by the test. */

import { afterEach, beforeEach, vi } from 'vitest'
import type { LiveCommentView, LiveEvent, LiveRoomView, LiveSnapshot } from '../../../generated'
import { ScriptedSocket } from '../../../lib/socket/fakeSocket'
import type { LiveRoom } from './room.svelte'

/** What the server answers over HTTP, by address, in turn; what is not here is away. */
export const answers: Record<string, unknown[]> = {}
export const asked: string[] = []

export const A_ROOM: LiveRoomView = { roomId: 'A', name: 'Types', status: 'OPEN', createdAt: '' }
export const NOW = 1_000_000

/** Before each test a new browser: sockets that are scripted, a clock that stands, nothing remembered. */
export function setStage(): void {
  // The first import of a room takes its time on a busy machine.
  vi.setConfig({ testTimeout: 20_000 })
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW })
    vi.resetModules()
    ScriptedSocket.opened = []
    asked.length = 0
    for (const url of Object.keys(answers)) delete answers[url]
    answers['/api/live/rooms/A'] = [A_ROOM]
    vi.stubGlobal('WebSocket', ScriptedSocket)
    vi.stubGlobal('document', { addEventListener: () => undefined, visibilityState: 'visible', documentElement: { lang: 'en' } })
    vi.stubGlobal('addEventListener', () => undefined)
    vi.stubGlobal('location', { protocol: 'http:', host: 'table' })
    vi.stubGlobal('localStorage', storage())
    vi.stubGlobal('sessionStorage', storage())
    vi.stubGlobal('fetch', (url: string) => {
      asked.push(url)
      const answer = answers[url]?.shift()
      if (answer instanceof Error) return Promise.reject(answer)
      const missing = { error: { code: 'no_such_room', message: '', details: {} } }
      return Promise.resolve(new Response(JSON.stringify(answer ?? missing), { status: answer ? 200 : 404 }))
    })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })
}

function storage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const kept = new Map<string, string>()
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => void kept.set(key, value), removeItem: (key) => void kept.delete(key) }
}

export const seq = (place: number): string => String(place).padStart(12, '0')

export function comment(place: number, content = `c${place}`, commentId = `id-${place}`): LiveCommentView {
  return { commentId, seq: seq(place), content, nickname: 'Anonymous', createdAt: new Date(NOW).toISOString() }
}

export const said = (place: number): LiveEvent => ({ k: 'commented', comment: comment(place) })

/** Come into the room, as its host or not; the socket is there, and nothing was said on it yet. */
export async function enter({ mine = false } = {}): Promise<LiveRoom> {
  answers['/api/live/rooms/A'] = [{ ...A_ROOM, mine }]
  const { LiveRoom } = await import('./room.svelte')
  const room = new LiveRoom('A')
  await room.enter()
  return room
}

/** The server welcomes the socket and tells how the room is. */
export function sit(comments: LiveCommentView[], rest: Partial<LiveSnapshot> = {}, epoch = 1): ScriptedSocket {
  const socket = ScriptedSocket.last.welcome()
  const snapshot = { room: A_ROOM, comments, ...rest }
  socket.says({ t: 'joined', id: socket.heard('join').id, to: 'live/A', channel: 1, at: { epoch, seq: 0 }, snapshot, here: 2 })
  return socket
}

/** The socket breaks, and the next one is there. */
export async function lose(socket: ScriptedSocket): Promise<void> {
  socket.breaks()
  while (ScriptedSocket.last === socket) await vi.advanceTimersByTimeAsync(500)
}

/** The next socket goes on where the last one was, with what happened meanwhile. */
export function resume(after: number, ...events: LiveEvent[]): ScriptedSocket {
  const socket = ScriptedSocket.last.welcome()
  socket.says({ t: 'joined', id: socket.heard('join').id, to: 'live/A', channel: 1, at: { epoch: 1, seq: after + events.length } })
  if (events.length) happens(socket, after, ...events)
  return socket
}

export function happens(socket: ScriptedSocket, after: number, ...events: LiveEvent[]): void {
  socket.says({ t: 'events', to: 'live/A', epoch: 1, after, seq: after + events.length, events })
}

/** The server answers the last command. */
export function answer(socket: ScriptedSocket, result: unknown): void {
  socket.says({ t: 'done', id: socket.heard('do').id, result })
}

export function refuse(socket: ScriptedSocket, code: string, details: Record<string, unknown> = {}): void {
  socket.says({ t: 'refused', id: socket.heard('do').id, error: { code, message: '', details } })
}

export const contents = (room: LiveRoom): string[] => room.comments.map((one) => one.content)
