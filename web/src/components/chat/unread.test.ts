import { expect, test } from 'vitest'
import { Arrivals } from './unread.svelte'

const reading = (...already: number[]): Arrivals<number, number> => new Arrivals((entry: number) => entry, already)

test('what was there is not news, and what comes is, once', () => {
  const news = reading(1, 2)
  expect(news.hear([1, 2], true)).toEqual([])
  expect(news.hear([1, 2, 3, 4], true)).toEqual([3, 4])
  expect(news.hear([2, 3, 4], true)).toEqual([])
  expect(news.unread).toBe(0)
})

test('the first words in an empty room are news', () => {
  expect(reading().hear([1], true)).toEqual([1])
})

test('what is taken back or shown again is not news', () => {
  const news = reading(1, 3)
  expect(news.hear([1], false)).toEqual([])
  expect(news.hear([1, 2, 3], false)).toEqual([])
  expect(news.hear([1, 2, 3, 4], false)).toEqual([4])
  expect(news.unread).toBe(1)
})

test('while it holds still, what comes waits, and what goes goes', () => {
  const news = reading(1, 2)
  news.hold(true)
  expect(news.hear([1, 2, 3, 4], true)).toEqual([3, 4])
  expect(news.shown([1, 2, 3, 4])).toEqual([1, 2])
  expect(news.unread).toBe(2)
  expect(news.shown([1, 3, 4])).toEqual([1])
  news.hold(false)
  expect(news.shown([1, 3, 4])).toEqual([1, 3, 4])
})

test('who wants to see what waits sees it, and it holds still there', () => {
  const news = reading(1)
  news.hold(true)
  news.hear([1, 2], true)
  news.catchUp()
  expect([news.unread, news.shown([1, 2])]).toEqual([0, [1, 2]])
  news.hear([1, 2, 3], true)
  expect([news.unread, news.shown([1, 2, 3])]).toEqual([1, [1, 2]])
})

test('an empty log has nothing to hold', () => {
  const news = reading()
  news.hold(true)
  expect(news.shown([1])).toEqual([1])
})
