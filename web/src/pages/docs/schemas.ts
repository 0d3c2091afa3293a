/** Schemas as readable types: one line per field, with its type and limits. */

import { nameOf, resolve, type Schema, type Spec } from './openapi'

export interface FieldLine {
  depth: number
  name: string
  type: string
  optional: boolean
  /** Where a parameter is, in words. */
  place?: string
  description: string
}

const MAX_DEPTH = 4

/** A type in one line, such as `string, 1–60 characters`, `"OPEN" | "CLOSED"` or `LiveRoomView[]`. */
export function typeOf(spec: Spec, schema: Schema): string {
  const name = nameOf(schema)
  const resolved = resolve(spec, schema)
  if (resolved.const !== undefined) return JSON.stringify(resolved.const)
  if (resolved.enum) return resolved.enum.map((value) => JSON.stringify(value)).join(' | ')
  const options = alternatives(resolved)
  if (options.length) return [...new Set(options.map((option) => typeOf(spec, option)))].join(' | ')
  if (name && resolved.properties) return name
  const kinds = [resolved.type ?? 'any'].flat()
  return kinds.map((kind) => typeOfKind(spec, resolved, kind)).join(' | ')
}

/** The fields of a type, with those of nested types below them; a recursive type is only named. */
export function fieldLines(spec: Spec, schema: Schema, depth = 0, ancestors: string[] = []): FieldLine[] {
  const name = nameOf(schema)
  const resolved = resolve(spec, schema)
  if (depth > MAX_DEPTH || (name && ancestors.includes(name))) return []
  const path = name ? [...ancestors, name] : ancestors
  if (resolved.items) return fieldLines(spec, resolved.items, depth, path)
  const options = alternatives(resolved)
  if (options.length) return options.flatMap((option) => fieldLines(spec, option, depth, path))
  const own = Object.entries(resolved.properties ?? {}).flatMap(([field, part]) => [
    {
      depth, name: field, type: typeOf(spec, part), optional: !resolved.required?.includes(field),
      description: part.description ?? '',
    },
    ...fieldLines(spec, part, depth + 1, path),
  ])
  const rest = resolved.additionalProperties
  return typeof rest === 'object' && !resolved.properties ? [...own, ...fieldLines(spec, rest, depth, path)] : own
}

/** An example value, from the document's examples where it has some. */
export function exampleOf(spec: Spec, schema: Schema, ancestors: string[] = []): unknown {
  const name = nameOf(schema)
  const resolved = resolve(spec, schema)
  if (name && ancestors.includes(name)) return null
  const path = name ? [...ancestors, name] : ancestors
  const example = Array.isArray(resolved.examples) ? resolved.examples[0] : Object.values(resolved.examples ?? {})[0]?.value
  if (example !== undefined) return example
  if (resolved.const !== undefined) return resolved.const
  if (resolved.enum) return resolved.enum[0]
  const options = alternatives(resolved)
  if (options.length) return exampleOf(spec, options.find((option) => option.type !== 'null') ?? options[0]!, path)
  if (resolved.properties) return exampleFields(spec, resolved.properties, path)
  return exampleOfKind(spec, resolved, path)
}

function exampleFields(spec: Spec, fields: Record<string, Schema>, path: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([field, part]) => [field, exampleOf(spec, part, path)]))
}

function exampleOfKind(spec: Spec, resolved: Schema, path: string[]): unknown {
  const kind = [resolved.type].flat().find((type) => type !== 'null')
  if (kind === 'array') return resolved.items ? [exampleOf(spec, resolved.items, path)] : []
  if (kind === 'integer' || kind === 'number') return resolved.default ?? resolved.minimum ?? 1
  if (kind === 'boolean') return resolved.default ?? false
  if (kind === 'string') return resolved.default ?? '…'
  return kind === 'object' ? {} : null
}

function alternatives(schema: Schema): Schema[] {
  return schema.oneOf ?? schema.anyOf ?? schema.allOf ?? []
}

function typeOfKind(spec: Spec, schema: Schema, kind: string): string {
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
