import { expect, test } from 'vitest'
import { liftOver, type Box } from './toastLift'

const box = (top: number, bottom: number, left = 0, right = 300): Box => ({ left, right, top, bottom })

test('a toast over nothing stays at the bottom', () => {
  expect(liftOver(box(700, 750), [])).toBe(0)
  expect(liftOver(box(700, 750), [box(600, 690), box(760, 800)])).toBe(0)
})

test('a toast moves above the field in its place', () => {
  expect(liftOver(box(700, 750), [box(690, 740)])).toBe(68)
})

test('a toast moves above fields that are on top of each other', () => {
  expect(liftOver(box(700, 750), [box(640, 685), box(690, 740)])).toBe(118)
})

test('a field beside the toast is not in its way', () => {
  expect(liftOver(box(700, 750), [box(690, 740, 300, 500)])).toBe(0)
})

test('a toast without a place above the fields stays where it can be read', () => {
  expect(liftOver(box(100, 150), [box(0, 200)])).toBe(0)
})
