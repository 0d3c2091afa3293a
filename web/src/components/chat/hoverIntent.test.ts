import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pointedAt } from './hoverIntent'

let told: boolean[]
let rows: EventTarget
let stop: () => void

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('Element', Button)
  told = []
  rows = new EventTarget()
  stop = pointedAt((on) => told.push(on))(rows as HTMLElement)
})
afterEach(() => {
  stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Something that takes the focus; by keyboard, the browser shows where it is. */
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

test('who points at it is told of once, until they leave', () => {
  for (const name of ['pointermove', 'pointermove', 'pointerleave', 'pointerleave']) rows.dispatchEvent(new Event(name))
  expect(told).toEqual([true, false])
})

test('a mouse that was left lying there points at nothing, until it moves', () => {
  rows.dispatchEvent(new Event('pointermove'))
  vi.advanceTimersByTime(5_000)
  rows.dispatchEvent(new Event('pointermove'))
  vi.advanceTimersByTime(5_000)
  expect(told).toEqual([true])
  vi.advanceTimersByTime(5_000)
  expect(told).toEqual([true, false])
  rows.dispatchEvent(new Event('pointermove'))
  expect(told).toEqual([true, false, true])
})

test('who goes through it by keyboard is there for as long as it takes, and a pressed button is not', () => {
  focus(new Button(false))
  expect(told).toEqual([])
  focus(new Button(true))
  vi.advanceTimersByTime(60_000)
  rows.dispatchEvent(new Event('pointermove'))
  rows.dispatchEvent(new Event('pointerleave'))
  expect(told).toEqual([true])
  rows.dispatchEvent(new Event('focusout'))
  expect(told).toEqual([true, false])
})
