/**
 * The texts of the pages in the reader's language. One language is loaded at a time; the long texts of some pages come with them.
 *
 * `texts/LANGUAGE/*.json` hold flat keys: `"live.people": {"one": "{n} person", "other": "{n} people"}`. Values are
 * inserted in braces; numbers are formatted for the language. A text that depends on a number takes `n` and has the plural
 * forms of its language.
 */

import type { Catalogue } from '../texts/catalogue'
import { call } from './api'
import { rememberChoice } from './document'
import { me } from './me.svelte'

export const LANGUAGES = ['ja', 'ko', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** A language's name in itself. */
export const LANGUAGE_NAMES: Record<Language, string> = { ja: '日本語', ko: '한국어', en: 'English' }

type Values = Record<string, string | number>

const CATALOGUES: Record<Language, () => Promise<{ default: Catalogue }>> = {
  ja: () => import('../texts/ja'),
  ko: () => import('../texts/ko'),
  en: () => import('../texts/en'),
}

/** With the texts of the pages for admins and developers, which are long. */
const FULL_CATALOGUES: typeof CATALOGUES = {
  ja: () => import('../texts/full/ja'),
  ko: () => import('../texts/full/ko'),
  en: () => import('../texts/full/en'),
}
let catalogues = CATALOGUES

let loaded = $state.raw<{ language: Language; catalogue: Catalogue }>({ language: 'ja', catalogue: {} })

/** The language of the page: `language.current`. */
export const language = {
  get current(): Language {
    return loaded.language
  },
}

/** Load the language that the server set on the document. Awaited once, before the first page shows. */
export async function loadTexts(): Promise<void> {
  const given = document.documentElement.lang.slice(0, 2)
  await load(isLanguage(given) ? given : 'en')
}

/** Load the texts that a page needs beyond those of all pages. */
export async function loadPageTexts(page: string): Promise<void> {
  if (catalogues === FULL_CATALOGUES || !/^(admin|docs)$/.test(page)) return
  catalogues = FULL_CATALOGUES
  await loadTexts()
}

/** Change the language of the page, and remember it in this browser and in the account of a user. */
export async function setLanguage(wanted: Language): Promise<void> {
  await load(wanted)
  rememberChoice('zataku_language', wanted)
  // The page has changed already; a failure to update the account is not worth an error.
  if (me.signedIn) await call('PATCH /api/me', { body: { language: wanted } }).catch(() => undefined)
}

/** The text of a key, with its values inserted. A missing text shows its key, so that it is noticed. */
export function t(key: string, values: Values = {}): string {
  const entry = loaded.catalogue[key]
  const text = typeof entry === 'object' ? entry[pluralRule(values.n)] ?? entry.other : entry
  if (text === undefined) return key
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => formatValue(values[name]) ?? placeholder)
}

/** True when a key has a text: for keys that depend on the server, such as error codes. */
export function has(key: string): boolean {
  return key in loaded.catalogue
}

function isLanguage(text: string): text is Language {
  return (LANGUAGES as readonly string[]).includes(text)
}

const formatters = new Map<string, unknown>()

/** An `Intl` object of the page's language. Cached: creating one takes a hundred times as long as using it. */
export function intl<O, F>(constructor: new (language: string, options: O) => F, options: O): F {
  const key = `${constructor.name} ${loaded.language} ${JSON.stringify(options)}`
  if (!formatters.has(key)) formatters.set(key, new constructor(loaded.language, options))
  return formatters.get(key) as F
}

async function load(wanted: Language): Promise<void> {
  const catalogue = (await catalogues[wanted]()).default
  loaded = { language: wanted, catalogue }
  document.documentElement.lang = wanted
}

function pluralRule(n: string | number | undefined): Intl.LDMLPluralRule {
  return intl(Intl.PluralRules, {}).select(Number(n ?? 0))
}

function formatValue(value: string | number | undefined): string | undefined {
  return typeof value === 'number' ? intl(Intl.NumberFormat, {}).format(value) : value
}
