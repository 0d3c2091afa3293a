/** Numbers, dates, durations and lists in the page's language. */

import { intl, language, t } from './texts.svelte'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const UNITS: [number, Intl.RelativeTimeFormatUnit][] = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
]

/** A number, such as 12,345 or 0.25. */
export function number(value: number, digits = 0): string {
  return numberFormat({ maximumFractionDigits: digits }).format(value)
}

/** An amount in US dollars, with at least two and at most `digits` decimal places. */
export function dollars(value: number, digits = value === 0 || value >= 0.01 ? 2 : 4): string {
  return numberFormat({
    style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', minimumFractionDigits: 2, maximumFractionDigits: digits,
  }).format(value)
}

/** A size in bytes with a fitting unit: 640 B, 12.3 kB, 4.1 MB. */
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

/** A date and its time, in the reader's time zone. */
export function dateTime(ms: number): string {
  return dateTimeFormat({ dateStyle: 'medium', timeStyle: 'short' }).format(ms)
}

/** A date. */
export function date(ms: number): string {
  return dateTimeFormat({ dateStyle: 'medium' }).format(ms)
}

/** A time of day. */
export function timeOfDay(ms: number): string {
  return dateTimeFormat({ hour: 'numeric', minute: '2-digit' }).format(ms)
}

/** A relative time: "just now", "3 minutes ago", "yesterday"; the date when it is more than a month away. */
export function ago(ms: number, now: number = Date.now()): string {
  const distance = ms - now
  if (Math.abs(distance) > 30 * DAY) return date(ms)
  const relative = intl(Intl.RelativeTimeFormat, { numeric: 'auto' })
  for (const [length, unit] of UNITS) {
    if (Math.abs(distance) >= length) return relative.format(Math.trunc(distance / length), unit)
  }
  return t('shell.justNow')
}

/** A duration in its two largest units: "3 days, 4 hr". */
export function duration(ms: number): string {
  const parts: [number, string][] = [
    [Math.floor(ms / DAY), 'day'],
    [Math.floor(ms / HOUR) % 24, 'hour'],
    [Math.floor(ms / MINUTE) % 60, 'minute'],
    [Math.floor(ms / 1000) % 60, 'second'],
  ]
  const largest = parts.findIndex(([amount]) => amount > 0)
  const first = largest < 0 ? parts.length - 1 : largest
  const shown = parts.slice(first, first + 2).filter(([amount], at) => amount > 0 || at === 0)
  return list(shown.map(([amount, unit]) => formatUnit(amount, unit)), 'unit')
}

function formatUnit(amount: number, unit: string): string {
  const text = numberFormat({ style: 'unit', unit, unitDisplay: 'short' }).format(amount)
  // Without it: "1 日23 時間".
  return language.current === 'ja' ? text.replace(/\s/g, '') : text
}

/** A list in one sentence: "A, B and C". */
export function list(parts: string[], type: 'conjunction' | 'unit' = 'conjunction'): string {
  return intl(Intl.ListFormat, { type, style: type === 'unit' ? 'narrow' : 'long' }).format(parts)
}

function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return intl(Intl.NumberFormat, options)
}

function dateTimeFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return intl(Intl.DateTimeFormat, options)
}
