import { expect, test } from 'vitest'
import { backTo, signInFrom } from './returnPath'

const HERE = 'https://table.example'

test('who signs in on a page comes back to it', () => {
  expect(signInFrom('/live/abc?tab=log', HERE)).toBe('/sign-in?next=%2Flive%2Fabc%3Ftab%3Dlog')
  expect(backTo('/live/abc?tab=log#end', HERE)).toBe('/live/abc?tab=log#end')
})

test('the home page and the entries themselves need no way back', () => {
  for (const path of ['/', '/sign-in', '/sign-up']) expect(signInFrom(path, HERE)).toBe('/sign-in')
})

test('nothing leads out of these pages', () => {
  for (const next of [null, '', '//evil.example/live', 'https://evil.example/live', '/\\evil.example', 'javascript:alert(1)', '/api/me', '/nowhere', '/sign-in?next=/live']) {
    expect(backTo(next, HERE)).toBe('/')
  }
})
