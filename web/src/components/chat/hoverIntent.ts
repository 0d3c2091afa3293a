/** Detects that the reader is about to press something in an element, by pointer, touch or keyboard. */

import { on } from 'svelte/events'

/** A mouse that does not move for this long counts as idle. */
const IDLE_MS = 8_000

/** An attachment for an element; calls `onchange` when the intent begins and ends. */
export function hoverIntent(onchange: (on: boolean) => void): (element: HTMLElement) => () => void {
  return (element) => {
    let isPointed = false
    let isFocused = false
    let reported = false
    let timer: ReturnType<typeof setTimeout> | undefined

    function update(change: { isPointed?: boolean; isFocused?: boolean }): void {
      isPointed = change.isPointed ?? isPointed
      isFocused = change.isFocused ?? isFocused
      if ((isPointed || isFocused) === reported) return
      reported = !reported
      onchange(reported)
    }
    function setPointed(on: boolean): void {
      clearTimeout(timer)
      if (on) timer = setTimeout(() => update({ isPointed: false }), IDLE_MS)
      update({ isPointed: on })
    }
    const listeners: Record<string, (event: Event) => void> = {
      pointermove: () => setPointed(true),
      pointerdown: () => setPointed(true),
      pointerleave: () => setPointed(false),
      // A mouse click leaves the focus behind, so only keyboard focus counts; focus on the log itself is for reading.
      focusin: ({ target }) => update({ isFocused: target instanceof Element && target.matches(':focus-visible:not([role=log])') }),
      focusout: () => update({ isFocused: false }),
    }
    // Removing the focused row dispatches focusout in the middle of an update, where no state may change; `on` leaves that context.
    const removals = Object.entries(listeners).map(([name, listener]) => on(element, name, listener))
    return () => {
      clearTimeout(timer)
      for (const remove of removals) remove()
    }
  }
}
