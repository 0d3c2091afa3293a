import { expect, test } from 'vitest'
import { splitCode } from './code'

test('what is between backticks is code', () => {
  expect(splitCode('The comments after a `seq`, or before one.')).toEqual([
    { text: 'The comments after a ', isCode: false },
    { text: 'seq', isCode: true },
    { text: ', or before one.', isCode: false },
  ])
  expect(splitCode('`next` of the page before')).toEqual([{ text: 'next', isCode: true }, { text: ' of the page before', isCode: false }])
})

test('a text without a pair of backticks has no code', () => {
  expect(splitCode('A room')).toEqual([{ text: 'A room', isCode: false }])
  expect(splitCode('a ` alone')).toEqual([{ text: 'a ` alone', isCode: false }])
  expect(splitCode('')).toEqual([])
})
