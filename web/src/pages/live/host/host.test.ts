import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LiveCommentView } from '../../../generated'
import { saveSettings, loadSettings, overlayPath, DEFAULTS } from './overlaySettings'
import { commentsOf } from '../room/views'

let stored: Map<string, string>

beforeEach(() => {
  stored = new Map()
  vi.stubGlobal('localStorage', { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => stored.set(key, value) })
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
const contentsOf = (view: 'all' | 'top' | 'hidden'): string[] => commentsOf(room, view, moderation).map((comment) => comment.content)

test('the view of all comments includes the hidden ones', () => {
  expect(contentsOf('all')).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
  expect(contentsOf('hidden')).toEqual(['c0', 'c4'])
})

test('the top view has the most upvoted first, answered ones last, and no hidden ones', () => {
  expect(contentsOf('top')).toEqual(['c5', 'c1', 'c3'])
  expect(room.comments.map((comment) => comment.content)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
})

test('the URL of the overlay has only the settings that are not default', () => {
  expect(overlayPath('A', DEFAULTS)).toBe('/live/A/overlay')
  expect(overlayPath('A', { ...DEFAULTS, size: 64, speed: 200, names: true, qr: true })).toBe('/live/A/overlay?size=64&speed=200&names=1&qr=1')
  expect(overlayPath('A', { ...DEFAULTS, isTransparent: false, colour: '#00ff7f' })).toBe('/live/A/overlay?background=00ff7f')
  expect(overlayPath('A', { ...DEFAULTS, qr: true }, 'ko')).toBe('/live/A/overlay?lang=ko&qr=1')
})

test('settings are stored, and invalid ones are the default', () => {
  expect(loadSettings()).toEqual(DEFAULTS)
  const chosen = { ...DEFAULTS, size: 96, qr: true, isTransparent: false, colour: '#123abc' }
  saveSettings(chosen)
  expect(loadSettings()).toEqual(chosen)
  for (const invalid of ['{"size":4000,"speed":"fast","names":1,"isTransparent":0,"colour":"red"}', 'null', '{', '[]']) {
    stored.set('zataku.overlay', invalid)
    expect(loadSettings(), invalid).toEqual(DEFAULTS)
  }
})

test('a browser without storage has the default settings', () => {
  vi.stubGlobal('localStorage', undefined)
  saveSettings({ ...DEFAULTS, size: 96 })
  expect(loadSettings()).toEqual(DEFAULTS)
})
