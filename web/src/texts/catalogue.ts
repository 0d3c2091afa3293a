/** All texts of a language by key; a text that depends on a number has its plural forms. */
export type Catalogue = Record<string, string | PluralForms>
export type PluralForms = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>

/** The files of a language as one catalogue. No two files share a key. */
export function merge(files: Record<string, Catalogue>): Catalogue {
  return Object.assign({}, ...Object.values(files))
}
