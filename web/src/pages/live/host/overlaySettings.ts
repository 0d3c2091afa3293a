/** The host's display settings of the overlay: stored in this browser, and passed in the overlay's URL. */

export interface OverlaySettings {
  /** Font size in px. */
  size: number
  /** Px per second. */
  speed: number
  names: boolean
  qr: boolean
  isTransparent: boolean
  /** The background that is not transparent, as `#rrggbb`. */
  colour: string
}

export const SIZES = { min: 16, max: 96, step: 4 }
export const SPEEDS = { min: 50, max: 400, step: 10 }
export const DEFAULTS: OverlaySettings = { size: 40, speed: 160, names: false, qr: false, isTransparent: true, colour: '#00b140' }

const COLOUR = /^#[0-9a-f]{6}$/
const KEY = 'zataku.overlay'

/** The path of a room's overlay; default settings are left out. OBS keeps no cookies, so its URL names the language. */
export function overlayPath(roomId: string, settings: OverlaySettings, language?: string): string {
  const query = new URLSearchParams()
  if (language) query.set('lang', language)
  if (settings.size !== DEFAULTS.size) query.set('size', String(settings.size))
  if (settings.speed !== DEFAULTS.speed) query.set('speed', String(settings.speed))
  if (settings.names) query.set('names', '1')
  if (settings.qr) query.set('qr', '1')
  if (!settings.isTransparent) query.set('background', settings.colour.slice(1))
  const path = `/live/${encodeURIComponent(roomId)}/overlay`
  return query.size ? `${path}?${query}` : path
}

/** The stored settings; the default for each that is missing or invalid. */
export function loadSettings(): OverlaySettings {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Record<keyof OverlaySettings, unknown>> | null
    return {
      size: inRange(stored?.size, SIZES) ?? DEFAULTS.size,
      speed: inRange(stored?.speed, SPEEDS) ?? DEFAULTS.speed,
      names: stored?.names === true,
      qr: stored?.qr === true,
      isTransparent: stored?.isTransparent !== false,
      colour: typeof stored?.colour === 'string' && COLOUR.test(stored.colour) ? stored.colour : DEFAULTS.colour,
    }
  } catch {
    return { ...DEFAULTS }
  }
}

export function saveSettings(settings: OverlaySettings): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(settings))
  } catch {
    // It is full, or forbidden.
  }
}

function inRange(value: unknown, { min, max }: { min: number; max: number }): number | undefined {
  return typeof value === 'number' && value >= min && value <= max ? value : undefined
}
