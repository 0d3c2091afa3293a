/** The pages and their paths. The server has the same paths, with the title of each; those of the systems come from it. */

import type { Component } from 'svelte'
import { SYSTEMS, type SystemName } from '../generated'

export type Params = Record<string, string>
export type PageComponent = Component<{ params: Params }>

export interface Route {
  path: string
  /** The folder in pages/ with its component. */
  page: string
  /** The title's text key; a page with a title of its own sets it with `setTitle`. */
  title: string
  system?: SystemName
  /** A room, where people are together: without footer and bottom bar. */
  isRoom?: boolean
}

const ENTRANCE = 'entrance'
const SIGN_IN_PAGES = ['signin', 'signup']

const ROUTES: Route[] = [
  { path: '/', page: 'home', title: 'shell.site' },
  { path: '/sign-in', page: 'signin', title: 'shell.title.signIn' },
  { path: '/sign-up', page: 'signup', title: 'shell.title.signUp' },
  { path: '/profile', page: 'profile', title: 'shell.title.profile' },
  { path: '/admin', page: 'admin', title: 'shell.title.admin' },
  { path: '/docs', page: 'docs', title: 'shell.title.docs' },
  { path: '/styleguide', page: 'styleguide', title: 'shell.title.styleguide' },
  ...SYSTEMS.flatMap(({ name, pages }) =>
    pages.map(({ path, component, isRoom }) => ({ path, page: component, title: `system.${name}.title`, system: name, isRoom })),
  ),
]

const MISSING: Route = { path: '', page: 'missing', title: 'shell.title.missing' }

const PAGES = import.meta.glob<{ default: PageComponent }>('../pages/*/Page.svelte')

/** True for a system that has a page of its own, and can be entered. */
export function hasOwnPage(system: SystemName): boolean {
  return `../pages/${system}/Page.svelte` in PAGES
}

/** Load the page of a route; a system without a page of its own has the entrance. */
export async function loadPage(route: Route): Promise<PageComponent> {
  const load = PAGES[`../pages/${route.page}/Page.svelte`] ?? (route.system && PAGES[`../pages/${ENTRANCE}/Page.svelte`])
  if (!load) throw new Error(`There is no page ${route.page}.`)
  return (await load()).default
}

/** The route of a path, the parameters in it, and whether it is a page of this site. */
export function matchRoute(path: string): { route: Route; params: Params; isKnown: boolean } {
  for (const route of ROUTES) {
    const params = matchPath(route.path, path)
    if (params) return { route, params, isKnown: true }
  }
  return { route: MISSING, params: {}, isKnown: false }
}

/** The path of the sign-in page, with the way back to a page in `?next=`. */
export function signInPath(page: string, origin: string): string {
  const next = returnPath(page, origin)
  return next === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`
}

/** The page that `?next=` names if it is one of this site, and the home page otherwise. */
export function returnPath(next: string | null, origin: string): string {
  if (next === null || !URL.canParse(next, origin)) return '/'
  const url = new URL(next, origin)
  const { isKnown, route } = matchRoute(url.pathname)
  return url.origin === origin && isKnown && !SIGN_IN_PAGES.includes(route.page) ? url.pathname + url.search + url.hash : '/'
}

function matchPath(pattern: string, path: string): Params | null {
  const expected = pattern.split('/')
  const actual = path.length > 1 ? path.replace(/\/$/, '').split('/') : ['', '']
  if (expected.length !== actual.length) return null
  const params: Params = {}
  for (const [at, part] of expected.entries()) {
    const segment = actual[at]!
    if (part.startsWith(':')) {
      if (!segment) return null
      try {
        params[part.slice(1)] = decodeURIComponent(segment)
      } catch {
        return null
      }
    } else if (part !== segment) return null
  }
  return params
}
