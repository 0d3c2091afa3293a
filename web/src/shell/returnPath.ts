/** Where somebody was before they signed in, carried along in the address as `?next=` and never leading elsewhere. */

import { routeOf } from './routes'

const ENTRIES = ['signin', 'signup']

/** The way to the sign-in page from a page of ours, and back to it afterwards. */
export function signInFrom(page: string, origin: string): string {
  const here = backTo(page, origin)
  return here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`
}

/** The page that `next` names if it is one of ours, and the home page otherwise. */
export function backTo(next: string | null, origin: string): string {
  if (next === null || !URL.canParse(next, origin)) return '/'
  const wanted = new URL(next, origin)
  const { ours, route } = routeOf(wanted.pathname)
  return wanted.origin === origin && ours && !ENTRIES.includes(route.page) ? wanted.pathname + wanted.search + wanted.hash : '/'
}
