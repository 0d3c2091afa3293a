/** The pages, and the paths they are at. The server knows the same paths and gives each its title. */

import type { Component } from 'svelte'

export type Params = Record<string, string>
export type PageComponent = Component<{ params: Params }>
export type SystemName = 'drawing' | 'othello' | 'ranking' | 'live' | 'kifu'

export const SYSTEMS: SystemName[] = ['drawing', 'othello', 'ranking', 'live', 'kifu']

export interface Route {
  path: string
  /** The folder in pages/ that has it. */
  page: string
  /** The key of its title; a page with a name of its own sets it with `setTitle`. */
  title: string
  system?: SystemName
  /** A room: people are together here, so the shelf makes way. */
  room?: boolean
}

const ROUTES: Route[] = [
  { path: '/', page: 'home', title: 'shell.house' },
  { path: '/sign-in', page: 'signin', title: 'shell.title.signIn' },
  { path: '/sign-up', page: 'signup', title: 'shell.title.signUp' },
  { path: '/profile', page: 'profile', title: 'shell.title.profile' },
  { path: '/admin', page: 'admin', title: 'shell.title.admin' },
  { path: '/docs', page: 'docs', title: 'shell.title.docs' },
  { path: '/styleguide', page: 'styleguide', title: 'shell.title.styleguide' },
  { path: '/drawing', page: 'drawing', title: 'shell.system.drawing', system: 'drawing' },
  { path: '/othello', page: 'othello', title: 'shell.system.othello', system: 'othello' },
  { path: '/ranking', page: 'ranking', title: 'shell.system.ranking', system: 'ranking' },
  { path: '/live', page: 'live', title: 'shell.system.live', system: 'live' },
  { path: '/live/:roomId', page: 'live', title: 'shell.system.live', system: 'live', room: true },
  { path: '/l/:code', page: 'live', title: 'shell.system.live', system: 'live', room: true },
  { path: '/kifu', page: 'kifu', title: 'shell.system.kifu', system: 'kifu' },
]

const MISSING: Route = { path: '', page: 'missing', title: 'shell.title.missing' }

const PAGES = import.meta.glob<{ default: PageComponent }>('../pages/*/Page.svelte')

/** Fetch the page of a route; the browser keeps what it fetched. */
export async function fetchPage(route: Route): Promise<PageComponent> {
  const page = PAGES[`../pages/${route.page}/Page.svelte`]
  if (!page) throw new Error(`There is no page ${route.page}.`)
  return (await page()).default
}

/** The page at a path, the values in the path, and whether it is ours at all. */
export function routeOf(path: string): { route: Route; params: Params; ours: boolean } {
  for (const route of ROUTES) {
    const params = matched(route.path, path)
    if (params) return { route, params, ours: true }
  }
  return { route: MISSING, params: {}, ours: false }
}

function matched(pattern: string, path: string): Params | null {
  const want = pattern.split('/')
  const have = path.length > 1 ? path.replace(/\/$/, '').split('/') : ['', '']
  if (want.length !== have.length) return null
  const params: Params = {}
  for (const [at, part] of want.entries()) {
    const given = have[at]!
    if (part.startsWith(':')) {
      if (!given) return null
      try {
        params[part.slice(1)] = decodeURIComponent(given)
      } catch {
        return null
      }
    } else if (part !== given) return null
  }
  return params
}
