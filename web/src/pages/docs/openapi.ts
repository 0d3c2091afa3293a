/** The parts of an OpenAPI document that the page reads. */

export interface Schema {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[] | Record<string, { value?: unknown }>
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  description?: string
  schema?: Schema
}

type Content = Record<string, { schema?: Schema }>

export interface Answer {
  $ref?: string
  description?: string
  content?: Content
}

/** The ways in which a caller may be known, any of them; none where nobody is asked. */
export type Security = Record<string, string[]>[]

export interface Operation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { content?: Content; required?: boolean }
  responses?: Record<string, Answer>
  security?: Security
}

export interface Spec {
  info: { title: string; version: string; description?: string }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  security?: Security
  components?: { schemas?: Record<string, Schema>; responses?: Record<string, Answer> }
}

/** An operation with where it is. */
export interface Found extends Operation {
  id: string
  method: string
  path: string
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** All operations under their tags, both in the order of the document. */
export function byTag(spec: Spec): [string, Found[]][] {
  const groups = new Map<string, Found[]>((spec.tags ?? []).map(({ name }) => [name, []]))
  for (const [path, methods] of Object.entries(spec.paths)) {
    for (const method of METHODS) {
      const operation = methods[method]
      if (!operation) continue
      const tag = operation.tags?.[0] ?? ''
      const id = operation.operationId ?? `${method}${path}`
      groups.set(tag, [...(groups.get(tag) ?? []), { ...operation, id, method: method.toUpperCase(), path }])
    }
  }
  return [...groups].filter(([, operations]) => operations.length > 0)
}

/** Those in which every word that was typed occurs. */
export function matching(operations: Found[], sought: string): Found[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean)
  return operations.filter((operation) => {
    const text = [operation.method, operation.path, operation.id, operation.summary, operation.description].join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** What a reference leads to, or the schema itself. */
export function resolved(spec: Spec, schema: Schema): Schema {
  const name = nameOf(schema)
  return name ? (spec.components?.schemas?.[name] ?? {}) : schema
}

/** What a schema is called, where it is one of the named ones. */
export function nameOf(schema: Schema): string | undefined {
  return schema.$ref?.split('/').at(-1)
}

/** The schema of a body or an answer, and its form: JSON if there is any. */
export function contentOf(spec: Spec, answer: Answer | undefined): { form: string; schema: Schema } | null {
  const found = answer?.$ref ? spec.components?.responses?.[answer.$ref.split('/').at(-1) ?? ''] : answer
  const content = found?.content ?? {}
  const form = 'application/json' in content ? 'application/json' : Object.keys(content)[0]
  const schema = form && content[form]?.schema
  return form && schema ? { form, schema } : null
}
