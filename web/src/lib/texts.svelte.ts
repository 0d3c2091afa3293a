/**
 * What the pages say, in the language of whoever reads it. One language is loaded at a time.
 *
 * `words/LANGUAGE/*.json` hold flat keys: `"live.people": {"one": "{n} person", "other": "{n} people"}`. A text has
 * values in braces; numbers are written as the language writes them. What depends on a number gives `n` and the plural
 * forms that the language has.
 */

import { keepChoice } from './document'
import { call } from './api'
import { me } from './me.svelte'
import type { Words } from '../texts/catalogue'
import { kept } from './intl'

export const LANGUAGES = ['ja', 'ko', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** What a language calls itself; the same in all of them. */
export const OWN_NAMES: Record<Language, string> = { ja: '日本語', ko: '한국어', en: 'English' }

type Values = Record<string, string | number>

const FOLDERS: Record<Language, () => Promise<{ default: Words }>> = {
  ja: () => import('../texts/ja'),
  ko: () => import('../texts/ko'),
  en: () => import('../texts/en'),
}

let spoken = $state.raw<{ language: Language; words: Words }>({ language: 'ja', words: {} })

/** The language of the page: `language.current`. */
export const language = {
  get current(): Language {
    return spoken.language
  },
}

/** Load the words in the language that the server gave the document. Awaited once, before the first page shows. */
export async function loadWords(): Promise<void> {
  const given = document.documentElement.lang.slice(0, 2)
  await speak(isLanguage(given) ? given : 'en')
}

/** Change the language of the page, and remember it in this browser and, for users, in their account. */
export async function setLanguage(wanted: Language): Promise<void> {
  await speak(wanted)
  keepChoice('zataku_language', wanted)
  // The page speaks it already: an account that could not be told is told the next time.
  if (me.signedIn) await call('PATCH /api/me', { body: { language: wanted } }).catch(() => undefined)
}

/** The text of a key, with its values. A key without a text shows itself, so that it is seen and mended. */
export function t(key: string, values: Values = {}): string {
  const found = spoken.words[key]
  const text = typeof found === 'object' ? found[pluralOf(values.n)] ?? found.other : found
  if (text === undefined) return key
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => shown(values[name]) ?? whole)
}

/** True when there is a text for the key: for words that follow what the server says, such as its errors. */
export function has(key: string): boolean {
  return key in spoken.words
}

export function isLanguage(text: string): text is Language {
  return (LANGUAGES as readonly string[]).includes(text)
}

async function speak(wanted: Language): Promise<void> {
  const words = (await FOLDERS[wanted]()).default
  spoken = { language: wanted, words }
  document.documentElement.lang = wanted
}

function pluralOf(n: string | number | undefined): Intl.LDMLPluralRule {
  return kept(Intl.PluralRules, spoken.language, {}).select(Number(n ?? 0))
}

function shown(value: string | number | undefined): string | undefined {
  return typeof value === 'number' ? kept(Intl.NumberFormat, spoken.language, {}).format(value) : value
}
