/**
 * The router. Links are ordinary links: a click on one inside the site changes the address and the page without loading a
 * new document. A page is preloaded on pointer-down.
 */

import { tick } from 'svelte'
import { SvelteURLSearchParams } from 'svelte/reactivity'
import { isServerUp, reloadWhenReachable } from '../lib/reachable'
import { loadPageTexts } from '../lib/texts.svelte'
import { loadPage, matchRoute, type PageComponent, type Params, type Route } from './routes'
import { followScroll, saveScroll, restoreScroll } from './scroll'

interface OpenPage {
  path: string
  route: Route | null
  params: Params
  component: PageComponent | null
  /** The page could not be loaded: the network is down, or a new version was deployed. */
  failed: boolean
}

const query = new SvelteURLSearchParams(location.search)
const open = $state<OpenPage>({ path: location.pathname, route: null, params: {}, component: null, failed: false })

/** The open page: its path, parameters, query and component. */
export const page = {
  get path() { return open.path },
  get route() { return open.route },
  get params() { return open.params },
  get component() { return open.component },
  get failed() { return open.failed },
  query: query as URLSearchParams,
}

let navigations = 0

/** Navigate to an address of this site. With `replace` it takes the place of the current history entry. */
export async function navigate(address: string, { replace = false } = {}): Promise<void> {
  const url = new URL(address, location.href)
  saveScroll()
  history[replace ? 'replaceState' : 'pushState']({}, '', url)
  await openPage(url, { scroll: 'top' })
}

/** Change one query parameter of the open page, without a history entry. */
export function setQuery(name: string, value: string | null): void {
  const url = new URL(location.href)
  if (value === null) url.searchParams.delete(name)
  else url.searchParams.set(name, value)
  history.replaceState(history.state, '', url)
  updateQuery(url)
}

/** Open the page of the address bar, and handle links and the history from then on. */
export async function startRouter(): Promise<void> {
  followScroll()
  document.addEventListener('click', onClick)
  document.addEventListener('pointerdown', onPointerDown, { passive: true })
  window.addEventListener('popstate', () => void openPage(new URL(location.href), { scroll: 'restore' }))
  await openPage(new URL(location.href), { scroll: 'restore', first: true })
}

async function openPage(url: URL, options: { scroll: 'top' | 'restore'; first?: boolean }): Promise<void> {
  const navigation = ++navigations
  const isSamePage = !options.first && url.pathname === open.path && open.component !== null
  if (isSamePage) {
    updateQuery(url)
    setScroll(url, options.scroll)
    return
  }
  const { route, params } = matchRoute(url.pathname)
  const component = await loadOrNull(route)
  // Another navigation has started while this page was loading.
  if (navigation !== navigations) return
  if (component === null && !options.first && (await isServerUp())) {
    // The server is up and the page is gone: a new version was deployed, so the document must be reloaded.
    location.reload()
    return
  }
  Object.assign(open, { path: url.pathname, route, params, component, failed: component === null })
  if (component === null) void reloadWhenReachable()
  updateQuery(url)
  await tick()
  setScroll(url, options.scroll)
  if (!options.first) focusHeading()
}

function setScroll(url: URL, scroll: 'top' | 'restore'): void {
  const target = scroll === 'top' && url.hash ? document.getElementById(url.hash.slice(1)) : null
  if (target) target.scrollIntoView()
  else restoreScroll(scroll)
}

async function loadOrNull(route: Route): Promise<PageComponent | null> {
  try {
    const [loaded] = await Promise.all([loadPage(route), loadPageTexts(route.page)])
    return loaded
  } catch {
    return null
  }
}

function updateQuery(url: URL): void {
  for (const name of [...query.keys()]) if (!url.searchParams.has(name)) query.delete(name)
  for (const [name, value] of url.searchParams) if (query.get(name) !== value) query.set(name, value)
}

function linkOf(event: Event): URL | null {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link || !link.href || link.target || link.hasAttribute('download') || link.dataset.document !== undefined) return null
  const url = new URL(link.href)
  return url.origin === location.origin && matchRoute(url.pathname).isKnown ? url : null
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const url = linkOf(event)
  if (!url) return
  event.preventDefault()
  void navigate(url.href, { replace: url.href === location.href })
}

function onPointerDown(event: PointerEvent): void {
  const url = linkOf(event)
  // The click itself handles a failure.
  if (url) loadPage(matchRoute(url.pathname).route).catch(() => undefined)
}

/** Focus the heading, so that screen readers announce the page and Tab continues from there. */
function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>('main h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}
