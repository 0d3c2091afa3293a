import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hoverIntent } from './hoverIntent'

let reported: boolean[]
let rows: EventTarget
let stop: () => void

beforeEach(async () => {
  vi.useFakeTimers()
  vi.stubGlobal('Element', Button)
  reported = []
  rows = new EventTarget()
  stop = hoverIntent((on) => reported.push(on))(rows as HTMLElement)
  // Pointer events are listened to from the next microtask on.
  await Promise.resolve()
})
afterEach(() => {
  stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** An element that takes the focus; after keyboard focus it matches `:focus-visible`. */
class Button extends EventTarget {
  constructor(readonly byKeyboard: boolean) {
    super()
  }

  matches(): boolean {
    return this.byKeyboard
  }
}

function focus(button: Button): void {
  rows.dispatchEvent(Object.defineProperty(new Event('focusin'), 'target', { value: button }))
}

test('pointing is reported once, until the pointer leaves', () => {
  for (const name of ['pointermove', 'pointermove', 'pointerleave', 'pointerleave']) rows.dispatchEvent(new Event(name))
  expect(reported).toEqual([true, false])
})

test('an idle mouse does not count, until it moves', () => {
  rows.dispatchEvent(new Event('pointermove'))
  vi.advanceTimersByTime(5_000)
  rows.dispatchEvent(new Event('pointermove'))
  vi.advanceTimersByTime(5_000)
  expect(reported).toEqual([true])
  vi.advanceTimersByTime(5_000)
  expect(reported).toEqual([true, false])
  rows.dispatchEvent(new Event('pointermove'))
  expect(reported).toEqual([true, false, true])
})

test('keyboard focus counts for as long as it lasts, focus by a click does not', () => {
  focus(new Button(false))
  expect(reported).toEqual([])
  focus(new Button(true))
  vi.advanceTimersByTime(60_000)
  rows.dispatchEvent(new Event('pointermove'))
  rows.dispatchEvent(new Event('pointerleave'))
  expect(reported).toEqual([true])
  rows.dispatchEvent(new Event('focusout'))
  expect(reported).toEqual([true, false])
})
