/** Schemas as people read types: one line a field, with what it is and what it may be. */

import { nameOf, resolved, type Schema, type Spec } from './openapi'

export interface Line {
  depth: number
  name: string
  type: string
  optional: boolean
  says: string
}

const DEEPEST = 4

/** A type in one line, such as `string, 1–60 characters`, `"OPEN" | "CLOSED"` or `LiveRoomView[]`. */
export function typeOf(spec: Spec, schema: Schema): string {
  const name = nameOf(schema)
  const found = resolved(spec, schema)
  if (found.const !== undefined) return JSON.stringify(found.const)
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(' | ')
  const either = alternatives(found)
  if (either.length) return [...new Set(either.map((one) => typeOf(spec, one)))].join(' | ')
  if (name && found.properties) return name
  const kinds = [found.type ?? 'any'].flat()
  return kinds.map((kind) => ofKind(spec, found, kind)).join(' | ')
}

/** The fields of a type, those of its parts below them; a type within itself is only named. */
export function linesOf(spec: Spec, schema: Schema, depth = 0, above: string[] = []): Line[] {
  const name = nameOf(schema)
  const found = resolved(spec, schema)
  if (depth > DEEPEST || (name && above.includes(name))) return []
  const path = name ? [...above, name] : above
  if (found.items) return linesOf(spec, found.items, depth, path)
  const either = alternatives(found)
  if (either.length) return either.flatMap((one) => linesOf(spec, one, depth, path))
  const own = Object.entries(found.properties ?? {}).flatMap(([field, part]) => [
    {
      depth, name: field, type: typeOf(spec, part), optional: !found.required?.includes(field),
      says: part.description ?? '',
    },
    ...linesOf(spec, part, depth + 1, path),
  ])
  const rest = found.additionalProperties
  return typeof rest === 'object' && !found.properties ? [...own, ...linesOf(spec, rest, depth, path)] : own
}

/** A value that fits, with the examples of the document where it has some. */
export function exampleOf(spec: Spec, schema: Schema, above: string[] = []): unknown {
  const name = nameOf(schema)
  const found = resolved(spec, schema)
  if (name && above.includes(name)) return null
  const path = name ? [...above, name] : above
  const given = Array.isArray(found.examples) ? found.examples[0] : Object.values(found.examples ?? {})[0]?.value
  if (given !== undefined) return given
  if (found.const !== undefined) return found.const
  if (found.enum) return found.enum[0]
  const either = alternatives(found)
  if (either.length) return exampleOf(spec, either.find((one) => one.type !== 'null') ?? either[0]!, path)
  if (found.properties) return exampleFields(spec, found.properties, path)
  return exampleOfKind(spec, found, path)
}

function exampleFields(spec: Spec, fields: Record<string, Schema>, path: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([field, part]) => [field, exampleOf(spec, part, path)]))
}

function exampleOfKind(spec: Spec, found: Schema, path: string[]): unknown {
  const kind = [found.type].flat().find((one) => one !== 'null')
  if (kind === 'array') return found.items ? [exampleOf(spec, found.items, path)] : []
  if (kind === 'integer' || kind === 'number') return found.default ?? found.minimum ?? 1
  if (kind === 'boolean') return found.default ?? false
  if (kind === 'string') return found.default ?? '…'
  return kind === 'object' ? {} : null
}

function alternatives(schema: Schema): Schema[] {
  return schema.oneOf ?? schema.anyOf ?? schema.allOf ?? []
}

function ofKind(spec: Spec, schema: Schema, kind: string): string {
  if (kind === 'array') {
    const inside = schema.items ? typeOf(spec, schema.items) : 'any'
    return `${inside.includes(' ') ? `(${inside})` : inside}[]${range(schema.minItems, schema.maxItems, ' items')}`
  }
  if (kind === 'object' && typeof schema.additionalProperties === 'object') {
    return `{ [name]: ${typeOf(spec, schema.additionalProperties)} }`
  }
  if (kind === 'string') return `string${schema.format ? ` (${schema.format})` : ''}${range(schema.minLength, schema.maxLength, ' characters')}`
  if (kind === 'integer' || kind === 'number') return `${kind}${range(schema.minimum, schema.maximum, '')}`
  return kind
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return `, ${least}–${most}${unit}`
  if (most !== undefined) return `, ≤ ${most}${unit}`
  return least !== undefined ? `, ≥ ${least}${unit}` : ''
}
