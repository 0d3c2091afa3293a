/**
 * Display options of the overlay, read from its URL: `?size=40&speed=160&names=1&qr=1&background=00ff00`. Keys change them and
 * the URL.
 */

export interface Options {
  /** Font size in pixels. */
  size: number
  /** Pixels per second. */
  speed: number
  names: boolean
  qr: boolean
  /** Six hexadecimal digits, such as `00ff00` for a chroma key; null for a transparent background. */
  background: string | null
}

const SIZE = { min: 16, max: 96, initial: 40, step: 4 }
const SPEED = { min: 50, max: 400, initial: 160, step: 20 }
const COLOUR = /^[0-9a-f]{6}$/
type Range = typeof SIZE

/** The options of a query. A value that is no number or no colour counts as missing; a number out of range is clamped. */
export function parseOptions(query: URLSearchParams): Options {
  return {
    size: parseNumber(SIZE, query.get('size')),
    speed: parseNumber(SPEED, query.get('speed')),
    names: query.get('names') === '1',
    qr: query.get('qr') === '1',
    background: parseColour(query.get('background')),
  }
}

/** A query with these options; its other parameters are kept. */
export function toQuery(options: Options, query: URLSearchParams): string {
  const next = new URLSearchParams(query)
  next.set('size', String(options.size))
  next.set('speed', String(options.speed))
  next.set('names', options.names ? '1' : '0')
  next.set('qr', options.qr ? '1' : '0')
  if (options.background === null) next.delete('background')
  else next.set('background', options.background)
  return next.toString()
}

/** The options after a key press; undefined for a key without a meaning. */
export function applyKey(options: Options, key: string): Options | undefined {
  switch (key) {
    case '+':
    case '=':
      return { ...options, size: clamp(SIZE, options.size + SIZE.step) }
    case '-':
      return { ...options, size: clamp(SIZE, options.size - SIZE.step) }
    case ']':
      return { ...options, speed: clamp(SPEED, options.speed + SPEED.step) }
    case '[':
      return { ...options, speed: clamp(SPEED, options.speed - SPEED.step) }
    case 'q':
    case 'Q':
      return { ...options, qr: !options.qr }
    default:
      return undefined
  }
}

function parseNumber(range: Range, text: string | null): number {
  const number = text?.trim() ? Number(text) : NaN
  return Number.isFinite(number) ? clamp(range, Math.round(number)) : range.initial
}

function parseColour(text: string | null): string | null {
  const digits = text?.toLowerCase() ?? ''
  return COLOUR.test(digits) ? digits : null
}

function clamp(range: Range, number: number): number {
  return Math.min(range.max, Math.max(range.min, number))
}
