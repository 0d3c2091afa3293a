import { describe, expect, it, test } from 'vitest'
import { matchRoute, returnPath, signInPath } from './routes'

describe('the page at a path', () => {
  it('is found with or without a slash at the end', () => {
    expect(matchRoute('/').route.page).toBe('home')
    expect(matchRoute('/sign-in').route.page).toBe('signin')
    expect(matchRoute('/sign-in/').route.page).toBe('signin')
  })

  it('of a room has its id as a parameter', () => {
    const { route, params, isKnown } = matchRoute('/live/a%20b')
    expect(params).toEqual({ roomId: 'a b' })
    expect([route.system, route.isRoom, isKnown]).toEqual(['live', true, true])
    expect(matchRoute('/live/').route.isRoom).toBe(false)
  })

  it('of a room’s number is a room as well', () => {
    const { route, params } = matchRoute('/l/482159')
    expect(params).toEqual({ code: '482159' })
    expect([route.page, route.system, route.isRoom]).toEqual(['live', 'live', true])
    expect(matchRoute('/l').isKnown).toBe(false)
  })

  it('is missing for any other path, including one that cannot be decoded', () => {
    for (const path of ['/nope', '/live/a/b', '/live/%E0%A4%A', '/Sign-in', '/api/me']) {
      expect(matchRoute(path)).toMatchObject({ isKnown: false, route: { page: 'missing' } })
    }
  })
})

const ORIGIN = 'https://table.example'

test('signing in on a page leads back to it', () => {
  expect(signInPath('/live/abc?tab=log', ORIGIN)).toBe('/sign-in?next=%2Flive%2Fabc%3Ftab%3Dlog')
  expect(returnPath('/live/abc?tab=log#end', ORIGIN)).toBe('/live/abc?tab=log#end')
})

test('the home page and the sign-in pages have no return path', () => {
  for (const path of ['/', '/sign-in', '/sign-up']) expect(signInPath(path, ORIGIN)).toBe('/sign-in')
})

test('a return path never leads to another site', () => {
  for (const next of [null, '', '//evil.example/live', 'https://evil.example/live', '/\\evil.example', 'javascript:alert(1)', '/api/me', '/nowhere', '/sign-in?next=/live']) {
    expect(returnPath(next, ORIGIN)).toBe('/')
  }
})
