import { expect, test } from 'vitest'
import { parseOptions, applyKey, toQuery } from './options'

const parse = (query: string) => parseOptions(new URLSearchParams(query))

test('missing and invalid parameters have the defaults', () => {
  expect(parse('')).toEqual({ size: 40, speed: 160, names: false, qr: false, background: null })
  expect(parse('size=&speed=fast&names=yes&qr=0&background=red')).toEqual(parse(''))
})

test('parameters are rounded and limited to their range', () => {
  expect(parse('size=4&speed=9999')).toMatchObject({ size: 16, speed: 400 })
  expect(parse('size=1e9&speed=-1')).toMatchObject({ size: 96, speed: 50 })
  expect(parse('size=NaN&speed=Infinity')).toMatchObject({ size: 40, speed: 160 })
  expect(parse('size=55.4&names=1&qr=1')).toEqual({ size: 55, speed: 160, names: true, qr: true, background: null })
})

test('keys change the size, the speed and the QR code, within their range', () => {
  let options = parse('')
  for (const key of ['+', '=', '-', ']', '[', '[', 'q']) options = applyKey(options, key) ?? options
  expect(options).toEqual({ size: 44, speed: 140, names: false, qr: true, background: null })
  for (let n = 0; n < 50; n += 1) options = applyKey(applyKey(options, '+')!, ']')!
  expect(options).toMatchObject({ size: 96, speed: 400 })
  expect(applyKey(options, 'x')).toBeUndefined()
})

test('the query has the chosen options and keeps other parameters', () => {
  const query = new URLSearchParams('lang=ko&size=12')
  const options = { size: 44, speed: 100, names: true, qr: false, background: null }
  const next = toQuery(options, query)
  expect(next).toBe('lang=ko&size=44&speed=100&names=1&qr=0')
  expect(parse(next)).toEqual(options)
  expect(parse(toQuery({ ...options, background: '00ff00' }, query))).toEqual({ ...options, background: '00ff00' })
  expect(toQuery(options, new URLSearchParams('background=red'))).not.toContain('background')
})

test('a background is a colour of six hexadecimal digits, and transparent otherwise', () => {
  expect(parse('background=00FF7f').background).toBe('00ff7f')
  for (const invalid of ['', 'transparent', 'red', 'fff', '#00ff00', '00ff0', '00ff000', '00ff0g', 'url(x)', '00ff00;']) {
    expect(parseOptions(new URLSearchParams({ background: invalid })).background, invalid).toBeNull()
  }
})
