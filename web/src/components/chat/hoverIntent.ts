/** Telling when somebody is about to press something: points at it, touches it, or goes through it by keyboard. */

/** A mouse that does not move was left lying there. */
const LEFT_MS = 8_000

/** To be attached to an element; says when that begins within it, and when it ends. */
export function pointedAt(tell: (on: boolean) => void): (element: HTMLElement) => () => void {
  return (element) => {
    let pointed = false
    let focused = false
    let told = false
    let timer: ReturnType<typeof setTimeout> | undefined

    function update(change: { pointed?: boolean; focused?: boolean }): void {
      pointed = change.pointed ?? pointed
      focused = change.focused ?? focused
      if ((pointed || focused) === told) return
      told = !told
      tell(told)
    }
    function point(on: boolean): void {
      clearTimeout(timer)
      if (on) timer = setTimeout(() => update({ pointed: false }), LEFT_MS)
      update({ pointed: on })
    }
    const heard: Record<string, (event: Event) => void> = {
      pointermove: () => point(true),
      pointerdown: () => point(true),
      pointerleave: () => point(false),
      // A press with the mouse leaves the focus behind; who goes by keyboard is where it is. In what scrolls, they read.
      focusin: ({ target }) => update({ focused: target instanceof Element && target.matches(':focus-visible:not([role=log])') }),
      focusout: () => update({ focused: false }),
    }
    for (const [name, listen] of Object.entries(heard)) element.addEventListener(name, listen)
    return () => {
      clearTimeout(timer)
      for (const [name, listen] of Object.entries(heard)) element.removeEventListener(name, listen)
    }
  }
}
