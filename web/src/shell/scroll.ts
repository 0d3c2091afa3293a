/** Saves the scroll position of each page in the browser's history, and restores it. */

const SAVE_DELAY_MS = 120
/** How long to wait for a page to grow to its full height. */
const GROW_TIMEOUT_MS = 2000

let timer: ReturnType<typeof setTimeout> | undefined
let activeObserver: ResizeObserver | undefined

/** Save the position whenever scrolling stops. */
export function followScroll(): void {
  history.scrollRestoration = 'manual'
  addEventListener('scroll', () => {
    clearTimeout(timer)
    timer = setTimeout(saveScroll, SAVE_DELAY_MS)
  }, { passive: true })
  addEventListener('pagehide', saveScroll)
  // A pending save belongs to the history entry that was just left.
  addEventListener('popstate', () => clearTimeout(timer))
  for (const gesture of ['wheel', 'touchstart', 'keydown']) addEventListener(gesture, () => activeObserver?.disconnect(), { passive: true })
}

export function saveScroll(): void {
  clearTimeout(timer)
  history.replaceState({ ...(history.state as object | null), scroll: scrollY }, '')
}

/** Scroll to the top, or to the saved position as soon as the page is long enough. */
export function restoreScroll(to: 'top' | 'restore'): void {
  const saved = (history.state as { scroll?: number } | null)?.scroll ?? 0
  const target = to === 'restore' ? saved : 0
  activeObserver?.disconnect()
  scrollTo(0, target)
  if (Math.ceil(scrollY) >= target) return
  const observer = new ResizeObserver(() => {
    scrollTo(0, target)
    if (Math.ceil(scrollY) >= target) observer.disconnect()
  })
  activeObserver = observer
  observer.observe(document.body)
  setTimeout(() => observer.disconnect(), GROW_TIMEOUT_MS)
}
