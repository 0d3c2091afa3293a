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

export interface ResponseObject {
  $ref?: string
  description?: string
  content?: Content
}

/** The accepted ways of authentication; empty for none. */
export type Security = Record<string, string[]>[]

interface OperationObject {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { content?: Content; required?: boolean }
  responses?: Record<string, ResponseObject>
  security?: Security
}

export interface Spec {
  info: { title: string; version: string; description?: string }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, OperationObject>>
  security?: Security
  components?: { schemas?: Record<string, Schema>; responses?: Record<string, ResponseObject> }
}

/** An operation with its method and path. */
export interface Operation extends OperationObject {
  id: string
  method: string
  path: string
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** All operations by tag, both in the order of the document. */
export function byTag(spec: Spec): [string, Operation[]][] {
  const groups = new Map<string, Operation[]>((spec.tags ?? []).map(({ name }) => [name, []]))
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

/** The operations that contain every word of a search, in English or as they are shown. */
export function filterOperations(operations: Operation[], query: string, shown: (text: string | undefined) => string): Operation[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return operations.filter((operation) => {
    const { method, path, id, summary, description } = operation
    const text = [method, path, id, summary, description, shown(summary), shown(description)].join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** The schema that a reference leads to, or the schema itself. */
export function resolve(spec: Spec, schema: Schema): Schema {
  const name = nameOf(schema)
  return name ? (spec.components?.schemas?.[name] ?? {}) : schema
}

/** The name of a referenced schema. */
export function nameOf(schema: Schema): string | undefined {
  return schema.$ref?.split('/').at(-1)
}

/** The schema and media type of a body or a response: JSON if there is any. */
export function contentOf(spec: Spec, response: ResponseObject | undefined): { mediaType: string; schema: Schema } | null {
  const resolved = response?.$ref ? spec.components?.responses?.[response.$ref.split('/').at(-1) ?? ''] : response
  const content = resolved?.content ?? {}
  const mediaType = 'application/json' in content ? 'application/json' : Object.keys(content)[0]
  const schema = mediaType && content[mediaType]?.schema
  return mediaType && schema ? { mediaType, schema } : null
}
