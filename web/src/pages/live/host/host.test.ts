import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LiveCommentView } from '../../../generated'
import { keepFlight, keptFlight, overlayPath, USUAL } from './overlaySettings'
import { pick } from '../room/views'

let kept: Map<string, string>

beforeEach(() => {
  kept = new Map()
  vi.stubGlobal('localStorage', { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) })
})

afterEach(() => vi.unstubAllGlobals())

function comment(seq: number): LiveCommentView {
  return { commentId: `id-${seq}`, seq: String(seq), content: `c${seq}`, nickname: 'Ada', createdAt: '' }
}

const room = {
  comments: [1, 2, 3, 4, 5].map(comment),
  hidden: new Set(['id-4']),
  answered: new Set(['id-3']),
  votes: new Map([['id-1', 2], ['id-3', 9], ['id-4', 5], ['id-5', 4], ['id-0', 7]]),
}
const moderation = { hidden: [comment(0), comment(4)] }
const seen = (view: 'all' | 'top' | 'hidden'): string[] => pick(room, view, moderation).map((one) => one.content)

test('the host looks at all comments, with what is hidden', () => {
  expect(seen('all')).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  expect(seen('hidden')).toEqual(['c0', 'c4'])
})

test('what most people want answered comes first, what was answered last, what is hidden not at all', () => {
  expect(seen('top')).toEqual(['c5', 'c1', 'c3'])
  expect(room.comments.map((one) => one.content)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
})

test('the address of the overlay says only what is not as usual', () => {
  expect(overlayPath('A', USUAL)).toBe('/live/A/overlay')
  expect(overlayPath('A', { size: 64, speed: 200, names: true, qr: true })).toBe('/live/A/overlay?size=64&speed=200&names=1&qr=1')
  expect(overlayPath('A', { ...USUAL, qr: true }, 'ko')).toBe('/live/A/overlay?lang=ko&qr=1')
})

test('how comments fly is remembered, and what makes no sense is as usual', () => {
  expect(keptFlight()).toEqual(USUAL)
  keepFlight({ ...USUAL, size: 96, qr: true })
  expect(keptFlight()).toEqual({ ...USUAL, size: 96, qr: true })
  for (const odd of ['{"size":4000,"speed":"fast","names":1}', 'null', '{', '[]']) {
    kept.set('zataku.overlay', odd)
    expect(keptFlight(), odd).toEqual(USUAL)
  }
})

test('a browser that keeps nothing flies as usual', () => {
  vi.stubGlobal('localStorage', undefined)
  keepFlight({ ...USUAL, size: 96 })
  expect(keptFlight()).toEqual(USUAL)
})
