/**
 * The sentences of the OpenAPI document in the reader's language. The document is in English; `translations/LANGUAGE.json` has each
 * paragraph of it by its English text, so that no translation outlives what it translates.
 */

import type { Language } from '../../lib/texts.svelte'

type Dictionary = Record<string, string>

const DICTIONARIES: Partial<Record<Language, () => Promise<{ default: Dictionary }>>> = {
  ja: () => import('./translations/ja.json'),
  ko: () => import('./translations/ko.json'),
}

let dictionary = $state.raw<Dictionary>({})

/** A paragraph, and its language where that is not the page's. */
export interface Paragraph {
  text: string
  lang?: 'en'
}

/** Load the sentences of a language. Where they cannot be loaded, the document stays as it is. */
export async function loadTranslations(language: Language): Promise<void> {
  const module = await DICTIONARIES[language]?.().catch(() => undefined)
  dictionary = module?.default ?? {}
}

/** The paragraphs of a text; one without a translation stays in English, such as those of other people's systems. */
export function translate(text: string | undefined): Paragraph[] {
  return paragraphsOf(text ?? '').map((english) => (english in dictionary ? { text: dictionary[english]! } : { text: english, lang: 'en' }))
}

/** A text in one piece, for searching. */
export function translatedText(text: string | undefined): string {
  return translate(text).map((paragraph) => paragraph.text).join(' ')
}

function paragraphsOf(text: string): string[] {
  return text.split(/\n\s*\n/).map((paragraph) => paragraph.trim().replace(/\s+/g, ' ')).filter(Boolean)
}
