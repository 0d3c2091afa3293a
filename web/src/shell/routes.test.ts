import { describe, expect, it } from 'vitest'
import { routeOf } from './routes'

describe('the page at a path', () => {
  it('is found with or without a slash at the end', () => {
    expect(routeOf('/').route.page).toBe('home')
    expect(routeOf('/sign-in').route.page).toBe('signin')
    expect(routeOf('/sign-in/').route.page).toBe('signin')
  })

  it('of a room has its id and is a room', () => {
    const { route, params, ours } = routeOf('/live/a%20b')
    expect(params).toEqual({ roomId: 'a b' })
    expect([route.system, route.room, ours]).toEqual(['live', true, true])
    expect(routeOf('/live/').route.room).toBeUndefined()
  })

  it('of a number leads into a room, so it is one already', () => {
    const { route, params } = routeOf('/l/482159')
    expect(params).toEqual({ code: '482159' })
    expect([route.page, route.system, route.room]).toEqual(['live', 'live', true])
    expect(routeOf('/l').ours).toBe(false)
  })

  it('is missing for everything else, even for what cannot be decoded', () => {
    for (const path of ['/nope', '/live/a/b', '/live/%E0%A4%A', '/Sign-in', '/api/me']) {
      expect(routeOf(path)).toMatchObject({ ours: false, route: { page: 'missing' } })
    }
  })
})
