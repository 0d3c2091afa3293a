/** An operation as a line for a shell. */

import { contentOf, type Found, type Spec } from './spec'
import { exampleOf } from './types'

/** A call of an operation with an API key and example values, to be pasted and changed. */
export function curlOf(spec: Spec, operation: Found, origin: string): string {
  const parameters = operation.parameters ?? []
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
  const wanted = parameters.filter((one) => one.in === 'query' && one.required)
  const query = wanted.map((one) => `${one.name}=${encodeURIComponent(String(exampleOf(spec, one.schema ?? {})))}`).join('&')
  const body = contentOf(spec, operation.requestBody)
  return [
    'curl',
    ...(operation.method === 'GET' ? [] : ['-X', operation.method]),
    quoted(origin + path + (query ? `?${query}` : '')),
    '-H', quoted('Authorization: Bearer zk_…'),
    ...(body ? ['-H', quoted(`Content-Type: ${body.form}`), '-d', quoted(JSON.stringify(exampleOf(spec, body.schema)))] : []),
  ].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
