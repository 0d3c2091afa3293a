/** Names of browsers and devices, from a User-Agent header. */

const BROWSERS: [RegExp, string][] = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/CriOS\/|Chrome\/|Chromium\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]

const DEVICES: [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'Mac'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

/** For example "Firefox · Android"; the start of the header where it matches neither, null for an empty one. */
export function deviceName(userAgent: string): string | null {
  const parts = [BROWSERS, DEVICES].map((names) => names.find(([pattern]) => pattern.test(userAgent))?.[1])
  return parts.filter(Boolean).join(' · ') || userAgent.slice(0, 40) || null
}
