import { expect, test, vi } from 'vitest'
import { saveDraft, saveIds, loadDraft, loadIds } from './storage'
import { useFakeServer } from './fixtures'

useFakeServer()

test('ids are stored by room and kind, the latest of them', () => {
  saveIds('A', 'mine', new Set(['1']))
  saveIds('A', 'upvoted', new Set(Array.from({ length: 600 }, (_, at) => `u${at}`)))
  expect([...loadIds('A', 'mine')]).toEqual(['1'])
  expect(loadIds('A', 'upvoted').size).toBe(500)
  expect(loadIds('A', 'upvoted').has('u599')).toBe(true)
  expect(loadIds('B', 'mine').size).toBe(0)
})

test('only the rooms that were visited last are stored', () => {
  for (let room = 0; room < 25; room++) saveIds(String(room), 'mine', new Set(['x']))
  expect(loadIds('4', 'mine').size).toBe(0)
  expect(loadIds('5', 'mine').size).toBe(1)
})

test('a draft is there after a reload, until it is sent', () => {
  const sent = { content: 'half', nickname: '', id: '1' }
  saveDraft('A', { content: 'half', sent })
  expect(loadDraft('A')).toEqual({ content: 'half', sent })
  saveDraft('A', { content: '' })
  expect(loadDraft('A')).toEqual({ content: '' })
})

test('forbidden storage and invalid content are ignored', () => {
  localStorage.setItem('zataku.live', 'no JSON')
  expect(loadIds('A', 'mine').size).toBe(0)
  vi.stubGlobal('localStorage', { getItem: () => { throw new Error('forbidden') }, setItem: () => { throw new Error('forbidden') } })
  saveIds('A', 'mine', new Set(['1']))
  expect(loadIds('A', 'mine').size).toBe(0)
})
