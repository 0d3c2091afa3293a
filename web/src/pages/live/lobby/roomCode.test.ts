import { expect, test } from 'vitest'
import { parseRoomCode } from './roomCode'

test('a number is read from its digits, however it was typed', () => {
  for (const typed of ['482159', '482 159', ' 482-159 ', '４８２１５９', '482　159']) expect(parseRoomCode(typed)).toBe('482159')
  expect(parseRoomCode('room')).toBe('')
})
