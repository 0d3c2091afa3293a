/** A language's words: a text for each key, or its plural forms. */
export type Words = Record<string, string | Plural>
export type Plural = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>

/** Everything in a folder of words as one. Keys are told apart by their first part, so no file hides another's. */
export function merged(files: Record<string, Words>): Words {
  return Object.assign({}, ...Object.values(files))
}
