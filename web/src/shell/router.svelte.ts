/**
 * Which page is open. Links are ordinary links: a press on one inside the pages changes the address and the page without
 * a new document. A page is fetched when somebody puts a finger on its link, and shown when it is there.
 */

import { tick } from 'svelte'
import { SvelteURLSearchParams } from 'svelte/reactivity'
import { fetchPage, routeOf, type PageComponent, type Params, type Route } from './routes'
import { followScroll, keepScroll, placeScroll } from './scroll'

interface Shown {
  path: string
  route: Route | null
  params: Params
  component: PageComponent | null
  /** True when the page could not be fetched: the network is away, or a new version took its place. */
  failed: boolean
}

const query = new SvelteURLSearchParams(location.search)
const shown = $state<Shown>({ path: location.pathname, route: null, params: {}, component: null, failed: false })

/** What is open: the path, the values in it, what stands after the question mark, and the page itself. */
export const page = {
  get path() { return shown.path },
  get route() { return shown.route },
  get params() { return shown.params },
  get component() { return shown.component },
  get failed() { return shown.failed },
  query: query as URLSearchParams,
}

let asked = 0

/** Go to an address of ours. With `replace` the page before cannot be gone back to. */
export async function go(address: string, { replace = false } = {}): Promise<void> {
  const url = new URL(address, location.href)
  keepScroll()
  history[replace ? 'replaceState' : 'pushState']({}, '', url)
  await show(url, { scroll: 'top' })
}

/** Change one value after the question mark; the page stays, and no step back is added. */
export function setQuery(name: string, value: string | null): void {
  const url = new URL(location.href)
  if (value === null) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  history.replaceState(history.state, '', url)
  followQuery(url)
}

/** Show the page of the address bar, and follow links and steps back from here on. */
export async function startRouter(): Promise<void> {
  followScroll()
  document.addEventListener('click', pressed)
  document.addEventListener('pointerdown', touched, { passive: true })
  window.addEventListener('popstate', () => void show(new URL(location.href), { scroll: 'restore' }))
  await show(new URL(location.href), { scroll: 'restore', first: true })
}

async function show(url: URL, how: { scroll: 'top' | 'restore'; first?: boolean }): Promise<void> {
  const mine = ++asked
  const samePage = !how.first && url.pathname === shown.path && shown.component !== null
  if (samePage) {
    followQuery(url)
    place(url, how.scroll)
    return
  }
  const { route, params } = routeOf(url.pathname)
  const component = await fetched(route)
  // Somebody pressed another link while this page was on its way.
  if (mine !== asked) return
  if (component === null && !how.first && (await isThere())) {
    // The server is there and the page is not: a new version took its place, so a new document is due.
    location.reload()
    return
  }
  Object.assign(shown, { path: url.pathname, route, params, component, failed: component === null })
  followQuery(url)
  await tick()
  place(url, how.scroll)
  if (!how.first) focusHeading()
}

function place(url: URL, scroll: 'top' | 'restore'): void {
  const target = scroll === 'top' && url.hash ? document.getElementById(url.hash.slice(1)) : null
  if (target) target.scrollIntoView()
  else placeScroll(scroll)
}

async function fetched(route: Route): Promise<PageComponent | null> {
  try {
    return await fetchPage(route)
  } catch {
    return null
  }
}

async function isThere(): Promise<boolean> {
  return fetch('/healthz', { cache: 'no-store' }).then((answer) => answer.ok, () => false)
}

function followQuery(url: URL): void {
  for (const name of [...query.keys()]) if (!url.searchParams.has(name)) query.delete(name)
  for (const [name, value] of url.searchParams) if (query.get(name) !== value) query.set(name, value)
}

function linkOf(event: Event): URL | null {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link || !link.href || link.target || link.hasAttribute('download') || link.dataset.document !== undefined) return null
  const url = new URL(link.href)
  return url.origin === location.origin && routeOf(url.pathname).ours ? url : null
}

function pressed(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const url = linkOf(event)
  if (!url) return
  event.preventDefault()
  void go(url.href, { replace: url.href === location.href })
}

function touched(event: PointerEvent): void {
  const url = linkOf(event)
  // A page that cannot be fetched now is asked for again by the press itself.
  if (url) fetchPage(routeOf(url.pathname).route).catch(() => undefined)
}

/** The heading takes the focus, so that it is read out and Tab goes on from there. */
function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}
