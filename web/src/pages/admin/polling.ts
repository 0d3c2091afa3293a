/** Do something now and then again and again, but not while nobody looks at the page. */
export function every(seconds: number, act: () => void): () => void {
  const look = (): void => {
    if (document.visibilityState === 'visible') act()
  }
  act()
  const timer = setInterval(look, seconds * 1000)
  document.addEventListener('visibilitychange', look)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', look)
  }
}
