/** How the comments fly over the slides: what the host chose, kept in this browser and carried by the overlay's address. */

export interface Flight {
  /** The size of the letters, in px. */
  size: number
  /** Px in a second. */
  speed: number
  names: boolean
  qr: boolean
}

export const SIZES = { min: 16, max: 96, step: 4 }
export const SPEEDS = { min: 50, max: 400, step: 10 }
export const USUAL: Flight = { size: 40, speed: 160, names: false, qr: false }

const KEY = 'zataku.overlay'

/** The path of a room's overlay; what is as usual is not said. A program that keeps no cookies is told the language. */
export function overlayPath(roomId: string, flight: Flight, language?: string): string {
  const query = new URLSearchParams()
  if (language) query.set('lang', language)
  if (flight.size !== USUAL.size) query.set('size', String(flight.size))
  if (flight.speed !== USUAL.speed) query.set('speed', String(flight.speed))
  if (flight.names) query.set('names', '1')
  if (flight.qr) query.set('qr', '1')
  const path = `/live/${encodeURIComponent(roomId)}/overlay`
  return query.size ? `${path}?${query}` : path
}

/** What was chosen the last time; as usual where nothing fitting was kept. */
export function keptFlight(): Flight {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Record<keyof Flight, unknown>> | null
    return {
      size: within(kept?.size, SIZES) ?? USUAL.size,
      speed: within(kept?.speed, SPEEDS) ?? USUAL.speed,
      names: kept?.names === true,
      qr: kept?.qr === true,
    }
  } catch {
    return { ...USUAL }
  }
}

export function keepFlight(flight: Flight): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(flight))
  } catch {
    // A browser that keeps nothing begins as usual the next time.
  }
}

function within(value: unknown, { min, max }: { min: number; max: number }): number | undefined {
  return typeof value === 'number' && value >= min && value <= max ? value : undefined
}
