/** Numbers, moments and lists as the language of the page writes them. */

import { kept } from './intl'
import { language } from './texts.svelte'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
]

/** A number, such as 12,345 or 0.25. */
export function number(value: number, digits = 0): string {
  return numbers({ maximumFractionDigits: digits }).format(value)
}

/** An amount of dollars: in cents, and with more digits below one or where they are wanted. */
export function dollars(value: number, digits = value === 0 || value >= 0.01 ? 2 : 4): string {
  return numbers({
    style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', minimumFractionDigits: 2, maximumFractionDigits: digits,
  }).format(value)
}

/** A size in the unit that leaves it short: 640 B, 12.3 kB, 4.1 MB. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let size = value
  let unit = 0
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit += 1
  }
  return `${number(size, unit === 0 || size >= 100 ? 0 : 1)} ${units[unit]}`
}

/** A day and its time, in the reader's own time zone. */
export function moment(ms: number): string {
  return moments({ dateStyle: 'medium', timeStyle: 'short' }).format(ms)
}

/** A day. */
export function day(ms: number): string {
  return moments({ dateStyle: 'medium' }).format(ms)
}

/** A time of day. */
export function timeOfDay(ms: number): string {
  return moments({ hour: 'numeric', minute: '2-digit' }).format(ms)
}

/** How long ago, or until when: "3 minutes ago", "yesterday"; after a month the day itself. */
export function ago(ms: number, now: number = Date.now()): string {
  const away = ms - now
  if (Math.abs(away) > 30 * DAY) return day(ms)
  const relative = kept(Intl.RelativeTimeFormat, language.current, { numeric: 'auto' })
  for (const [length, unit] of STEPS) {
    if (Math.abs(away) >= length) return relative.format(Math.trunc(away / length), unit)
  }
  return relative.format(0, 'second')
}

/** A length of time in its two largest units: "3 days, 4 hr". */
export function lasting(ms: number): string {
  const parts: [number, string][] = [
    [Math.floor(ms / DAY), 'day'],
    [Math.floor(ms / HOUR) % 24, 'hour'],
    [Math.floor(ms / MINUTE) % 60, 'minute'],
    [Math.floor(ms / 1000) % 60, 'second'],
  ]
  const found = parts.findIndex(([amount]) => amount > 0)
  const first = found < 0 ? parts.length - 1 : found
  const shown = parts.slice(first, first + 2).filter(([amount], at) => amount > 0 || at === 0)
  return list(shown.map(([amount, unit]) => measure(amount, unit)), 'unit')
}

function measure(amount: number, unit: string): string {
  const said = numbers({ style: 'unit', unit, unitDisplay: 'short' }).format(amount)
  // "1 日23 時間" would have its spaces in the wrong places.
  return language.current === 'ja' ? said.replace(/\s/g, '') : said
}

/** Several things in one sentence: "A, B and C". */
export function list(parts: string[], type: 'conjunction' | 'unit' = 'conjunction'): string {
  return kept(Intl.ListFormat, language.current, { type, style: type === 'unit' ? 'narrow' : 'long' }).format(parts)
}

function numbers(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return kept(Intl.NumberFormat, language.current, options)
}

function moments(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return kept(Intl.DateTimeFormat, language.current, options)
}
