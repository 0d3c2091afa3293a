/** Formats of a language, made once each: making one takes a hundred times as long as using it. */

const made = new Map<string, unknown>()

export function kept<O, F>(make: new (language: string, options: O) => F, language: string, options: O): F {
  const key = `${make.name} ${language} ${JSON.stringify(options)}`
  if (!made.has(key)) made.set(key, new make(language, options))
  return made.get(key) as F
}
