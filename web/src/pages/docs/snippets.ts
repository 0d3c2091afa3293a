/** Code snippets that call an operation: curl, or `fetch` for the browser's console where no API key is accepted. */

import { contentOf, type Operation, type Spec } from './openapi'
import { exampleOf } from './schemas'

export interface Snippet {
  tool: 'curl' | 'fetch'
  text: string
}

/** A snippet with example values. */
export function snippetFor(spec: Spec, operation: Operation, origin: string): Snippet {
  const allowed = operation.security ?? spec.security ?? []
  if (allowed.length === 0) return { tool: 'curl', text: curl(spec, operation, origin, false) }
  return allowed.some((scheme) => 'key' in scheme)
    ? { tool: 'curl', text: curl(spec, operation, origin, true) }
    : { tool: 'fetch', text: browserFetch(spec, operation) }
}

function curl(spec: Spec, operation: Operation, origin: string, withKey: boolean): string {
  const body = contentOf(spec, operation.requestBody)
  return [
    'curl',
    ...(operation.method === 'GET' ? [] : ['-X', operation.method]),
    shellQuote(origin + pathOf(spec, operation)),
    ...(withKey ? ['-H', shellQuote('Authorization: Bearer zk_…')] : []),
    ...(body ? ['-H', shellQuote(`Content-Type: ${body.mediaType}`), '-d', shellQuote(JSON.stringify(exampleOf(spec, body.schema)))] : []),
  ].join(' ')
}

function browserFetch(spec: Spec, operation: Operation): string {
  const body = contentOf(spec, operation.requestBody)
  const json = body?.mediaType === 'application/json'
  const parts = [
    ...(operation.method === 'GET' ? [] : [`method: '${operation.method}'`]),
    ...(body ? [`headers: { 'Content-Type': '${body.mediaType}' }`] : []),
    ...(body ? [`body: ${json ? `JSON.stringify(${JSON.stringify(exampleOf(spec, body.schema))})` : 'file'}`] : []),
  ]
  return `await fetch('${pathOf(spec, operation)}'${parts.length ? `, { ${parts.join(', ')} }` : ''})`
}

function pathOf(spec: Spec, operation: Operation): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
  const required = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query' && parameter.required)
  const query = required.map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(spec, schema ?? {})))}`).join('&')
  return path + (query ? `?${query}` : '')
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
