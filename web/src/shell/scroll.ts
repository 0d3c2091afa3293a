/** Where the reader was on a page, so that a step back leads there again. It is kept in the browser's own history. */

const SETTLED = 120
/** How long a page that is still filling itself is waited for. */
const FILLING = 2000

let timer: ReturnType<typeof setTimeout> | undefined
let watcher: ResizeObserver | undefined

/** From here on the place in the page is kept whenever scrolling comes to rest. */
export function followScroll(): void {
  history.scrollRestoration = 'manual'
  addEventListener('scroll', () => {
    clearTimeout(timer)
    timer = setTimeout(keepScroll, SETTLED)
  }, { passive: true })
  addEventListener('pagehide', keepScroll)
  // What was about to be kept belongs to the page that was left, and that entry is out of reach now.
  addEventListener('popstate', () => clearTimeout(timer))
  for (const own of ['wheel', 'touchstart', 'keydown']) addEventListener(own, () => watcher?.disconnect(), { passive: true })
}

export function keepScroll(): void {
  clearTimeout(timer)
  history.replaceState({ ...(history.state as object | null), scroll: scrollY }, '')
}

/** Go to the top, or to where the reader was, as soon as the page is long enough for that. */
export function placeScroll(how: 'top' | 'restore'): void {
  const kept = (history.state as { scroll?: number } | null)?.scroll ?? 0
  const wanted = how === 'restore' ? kept : 0
  watcher?.disconnect()
  scrollTo(0, wanted)
  if (Math.ceil(scrollY) >= wanted) return
  const mine = new ResizeObserver(() => {
    scrollTo(0, wanted)
    if (Math.ceil(scrollY) >= wanted) mine.disconnect()
  })
  watcher = mine
  mine.observe(document.body)
  setTimeout(() => mine.disconnect(), FILLING)
}
