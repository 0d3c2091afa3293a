import { expect, test } from 'vitest'
import { parseRoomCode } from './roomCode'

test.each(['482159', '482 159', ' 482-159 ', '４８２１５９', '482　159', '482–159', 'http://192.168.0.5:8000/l/482159', 'table.example/l/482159/'])(
  'the number is read from %s', (typed) => expect(parseRoomCode(typed)).toBe('482159'),
)

test.each(['', 'room', '48215', '4821590', '482159x', 'a482159', '12.3456', 'http://192.168.0.5:8000/live'])(
  '%s is no room number', (typed) => expect(parseRoomCode(typed)).toBeUndefined(),
)
