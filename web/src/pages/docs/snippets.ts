/** An operation as a line to paste: for a shell, or for the console of a browser where a key would be refused. */

import { contentOf, type Found, type Spec } from './openapi'
import { exampleOf } from './schemas'

export interface Call {
  by: 'curl' | 'fetch'
  text: string
}

/** A call of an operation with example values, to be pasted and changed. */
export function callOf(spec: Spec, operation: Found, origin: string): Call {
  const allowed = operation.security ?? spec.security ?? []
  if (allowed.length === 0) return { by: 'curl', text: curl(spec, operation, origin, false) }
  return allowed.some((one) => 'key' in one)
    ? { by: 'curl', text: curl(spec, operation, origin, true) }
    : { by: 'fetch', text: fetching(spec, operation) }
}

function curl(spec: Spec, operation: Found, origin: string, withKey: boolean): string {
  const body = contentOf(spec, operation.requestBody)
  return [
    'curl',
    ...(operation.method === 'GET' ? [] : ['-X', operation.method]),
    quoted(origin + placeOf(spec, operation)),
    ...(withKey ? ['-H', quoted('Authorization: Bearer zk_…')] : []),
    ...(body ? ['-H', quoted(`Content-Type: ${body.form}`), '-d', quoted(JSON.stringify(exampleOf(spec, body.schema)))] : []),
  ].join(' ')
}

function fetching(spec: Spec, operation: Found): string {
  const body = contentOf(spec, operation.requestBody)
  const json = body?.form === 'application/json'
  const parts = [
    ...(operation.method === 'GET' ? [] : [`method: '${operation.method}'`]),
    ...(body ? [`headers: { 'Content-Type': '${body.form}' }`] : []),
    ...(body ? [`body: ${json ? `JSON.stringify(${JSON.stringify(exampleOf(spec, body.schema))})` : 'file'}`] : []),
  ]
  return `await fetch('${placeOf(spec, operation)}'${parts.length ? `, { ${parts.join(', ')} }` : ''})`
}

function placeOf(spec: Spec, operation: Found): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
  const wanted = (operation.parameters ?? []).filter((one) => one.in === 'query' && one.required)
  const query = wanted.map((one) => `${one.name}=${encodeURIComponent(String(exampleOf(spec, one.schema ?? {})))}`).join('&')
  return path + (query ? `?${query}` : '')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
