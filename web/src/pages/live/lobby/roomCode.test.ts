import { expect, test } from 'vitest'
import { digitsOf } from './roomCode'
import { newId } from '../room/commentId'

test('a number is known by its digits, however it was typed', () => {
  for (const typed of ['482159', '482 159', ' 482-159 ', '４８２１５９', '482　159']) expect(digitsOf(typed)).toBe('482159')
  expect(digitsOf('room')).toBe('')
})

test('an id is a UUID of version 4, in small letters, and never the same', () => {
  const ids = Array.from({ length: 50 }, newId)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(50)
})
