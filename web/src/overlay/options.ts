/** How the overlay looks, by its address: `?size=40&speed=160&names=1&qr=1`. Keys change it, and the address with it. */

export interface Options {
  /** Height of the letters in pixels. */
  size: number
  /** Pixels a second. */
  speed: number
  names: boolean
  qr: boolean
}

const SIZE = { least: 16, most: 96, usual: 40, step: 4 }
const SPEED = { least: 50, most: 400, usual: 160, step: 20 }
type Range = typeof SIZE

/** What an address asks for. What makes no sense is as if it were not there; what is too much is as much as there is. */
export function optionsOf(query: URLSearchParams): Options {
  return {
    size: within(SIZE, query.get('size')),
    speed: within(SPEED, query.get('speed')),
    names: query.get('names') === '1',
    qr: query.get('qr') === '1',
  }
}

/** The query of an address with these options; what it says beyond them stays. */
export function queryOf(options: Options, query: URLSearchParams): string {
  const next = new URLSearchParams(query)
  next.set('size', String(options.size))
  next.set('speed', String(options.speed))
  next.set('names', options.names ? '1' : '0')
  next.set('qr', options.qr ? '1' : '0')
  return next.toString()
}

/** What a key makes of the options; undefined for one that means nothing here. */
export function pressed(options: Options, key: string): Options | undefined {
  switch (key) {
    case '+':
    case '=':
      return { ...options, size: clamped(SIZE, options.size + SIZE.step) }
    case '-':
      return { ...options, size: clamped(SIZE, options.size - SIZE.step) }
    case ']':
      return { ...options, speed: clamped(SPEED, options.speed + SPEED.step) }
    case '[':
      return { ...options, speed: clamped(SPEED, options.speed - SPEED.step) }
    case 'q':
    case 'Q':
      return { ...options, qr: !options.qr }
    default:
      return undefined
  }
}

function within(range: Range, asked: string | null): number {
  const number = asked?.trim() ? Number(asked) : NaN
  return Number.isFinite(number) ? clamped(range, Math.round(number)) : range.usual
}

function clamped(range: Range, number: number): number {
  return Math.min(range.most, Math.max(range.least, number))
}
