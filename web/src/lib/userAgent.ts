/** What somebody's browser and machine are called, from what the browser calls itself. */

const BROWSERS: [RegExp, string][] = [
  [/Edg(?:e|A|iOS)?\//, 'Edge'],
  [/OPR\/|Opera/, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/CriOS\/|Chrome\/|Chromium\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]

const MACHINES: [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'Mac'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

/** Such as "Firefox · Android"; the first words of what it says where neither is known, and null for nothing. */
export function browserOf(userAgent: string): string | null {
  const known = [BROWSERS, MACHINES].map((names) => names.find(([form]) => form.test(userAgent))?.[1])
  return known.filter(Boolean).join(' · ') || userAgent.slice(0, 40) || null
}
