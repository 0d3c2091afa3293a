import { expect, test, vi } from 'vitest'
import { keepDraft, keepIds, keptDraft, keptIds } from './storage'
import { setStage } from './fixtures'

setStage()

test('ids are kept by room and kind, the latest of them', () => {
  keepIds('A', 'mine', new Set(['1']))
  keepIds('A', 'upvoted', new Set(Array.from({ length: 600 }, (_, at) => `u${at}`)))
  expect([...keptIds('A', 'mine')]).toEqual(['1'])
  expect(keptIds('A', 'upvoted').size).toBe(500)
  expect(keptIds('A', 'upvoted').has('u599')).toBe(true)
  expect(keptIds('B', 'mine').size).toBe(0)
})

test('the rooms that were visited last are kept', () => {
  for (let room = 0; room < 25; room++) keepIds(String(room), 'mine', new Set(['x']))
  expect(keptIds('4', 'mine').size).toBe(0)
  expect(keptIds('5', 'mine').size).toBe(1)
})

test('a draft is there after a reload, until it is sent', () => {
  const sent = { content: 'half', nickname: '', id: '1' }
  keepDraft('A', { content: 'half', sent })
  expect(keptDraft('A')).toEqual({ content: 'half', sent })
  keepDraft('A', { content: '' })
  expect(keptDraft('A')).toEqual({ content: '' })
})

test('a browser that keeps nothing, or something else, harms nobody', () => {
  localStorage.setItem('zataku.live', 'no JSON')
  expect(keptIds('A', 'mine').size).toBe(0)
  vi.stubGlobal('localStorage', { getItem: () => { throw new Error('forbidden') }, setItem: () => { throw new Error('forbidden') } })
  keepIds('A', 'mine', new Set(['1']))
  expect(keptIds('A', 'mine').size).toBe(0)
})
