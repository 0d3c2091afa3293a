import { beforeEach, expect, test, vi } from 'vitest'

const page = { documentElement: { lang: 'en' }, cookie: '', addEventListener: () => undefined, visibilityState: 'visible' }

vi.stubGlobal('document', page)
vi.stubGlobal('addEventListener', () => undefined)
vi.stubGlobal('location', { protocol: 'https:', host: 'table' })

// Loaded before the first test, whose time limit is no measure for compiling all texts on a busy machine.
for (const lang of ['ja', 'ko', 'en']) await loadLanguage(lang)

beforeEach(() => {
  page.documentElement.lang = 'en'
  page.cookie = ''
})

async function loadLanguage(lang: string): Promise<typeof import('./texts.svelte') & typeof import('./formats')> {
  page.documentElement.lang = lang
  const texts = await import('./texts.svelte')
  await texts.loadTexts()
  await texts.loadPageTexts('admin')
  return { ...texts, ...(await import('./formats')) }
}

test('a number selects the plural form and is formatted for the language', async () => {
  const { t } = await loadLanguage('en')
  expect(t('admin.itemCount', { n: 1 })).toBe('1 item')
  expect(t('admin.itemCount', { n: 0 })).toBe('0 items')
  expect(t('admin.itemCount', { n: 12_345 })).toBe('12,345 items')
})

test('a language without plurals has one form', async () => {
  const { t } = await loadLanguage('ja')
  expect([1, 2].map((n) => t('admin.itemCount', { n }))).toEqual(['1件', '2件'])
})

test('the texts of a page stay when the language changes', async () => {
  const { t, setLanguage } = await loadLanguage('en')
  await setLanguage('ko')
  expect(t('admin.itemCount', { n: 2 })).toBe('2개')
})

test('a missing text shows its key, and a missing value its placeholder', async () => {
  const { t } = await loadLanguage('en')
  expect(t('no.such.key')).toBe('no.such.key')
  expect(t('accounts.welcome')).toBe('Welcome, {name}.')
})

test('values are inserted verbatim', async () => {
  const { t } = await loadLanguage('en')
  expect(t('accounts.welcome', { name: '{name} $& <b>' })).toBe('Welcome, {name} $& <b>.')
})

test('an unsupported language falls back to English', async () => {
  const { language } = await loadLanguage('fr')
  expect(language.current).toBe('en')
})

test('another language is remembered in this browser and marked on the document', async () => {
  const { language, setLanguage } = await loadLanguage('en')
  await setLanguage('ko')
  expect(language.current).toBe('ko')
  expect(page.documentElement.lang).toBe('ko')
  expect(page.cookie).toMatch(/^zataku_language=ko;.*Path=\/.*SameSite=Lax.*Secure/)
})

test('times and sizes have the unit that keeps them short', async () => {
  const { ago, bytes, dollars, duration } = await loadLanguage('en')
  expect([0, 90_000, 90_061_000].map((ms) => duration(ms))).toEqual(['0 sec', '1 min 30 sec', '1 day 1 hr'])
  expect((await loadLanguage('ja')).duration(171_000_000)).toBe('1日23時間')
  await loadLanguage('en')
  expect([999, 12_345, 123_456_789].map(bytes)).toEqual(['999 B', '12.3 kB', '123 MB'])
  expect([0, 0.0004, 0.5, 1234.5].map((value) => dollars(value))).toEqual(['$0.00', '$0.0004', '$0.50', '$1,234.50'])
  expect(dollars(0.125, 3)).toBe('$0.125')
  const now = Date.UTC(2026, 10, 16)
  expect([0, 59_000, 3 * 60_000, 26 * 3_600_000].map((past) => ago(now - past, now))).toEqual(['just now', 'just now', '3 minutes ago', 'yesterday'])
})
