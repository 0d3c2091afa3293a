import { expect, test } from 'vitest'
import { snippetFor } from './snippets'
import { byTag, filterOperations, type Spec } from './openapi'
import { exampleOf, fieldLines, typeOf } from './schemas'

const asIs = (text = ''): string => text
const spec: Spec = {
  info: { title: 'Table', version: '1' },
  tags: [{ name: 'live' }, { name: 'kifu' }, { name: 'accounts' }],
  paths: {
    '/api/keys': { post: { operationId: 'make_key', tags: ['accounts'], requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/MakeKey' } } } } } },
    '/api/live/rooms/{room_id}': {
      get: { operationId: 'one_room', summary: 'A room', tags: ['live'], parameters: [{ name: 'room_id', in: 'path', required: true }, { name: 'after', in: 'query' }] },
      delete: { operationId: 'no_room', tags: ['live'] },
    },
  },
  components: {
    schemas: {
      MakeKey: {
        type: 'object', required: ['label'],
        properties: {
          label: { type: 'string', minLength: 1, maxLength: 40, description: "It's yours", examples: ["Ada's"] },
          days: { oneOf: [{ type: 'integer', minimum: 1, maximum: 3650 }, { type: 'null' }] },
          scopes: { type: 'array', items: { enum: ['live:read', 'live:write'] } },
        },
      },
      Move: { type: 'object', required: ['next'], properties: { next: { type: 'array', items: { $ref: '#/components/schemas/Move' } } } },
    },
  },
}
const makeKey = { $ref: '#/components/schemas/MakeKey' }

test('every field has its type on one line', () => {
  expect(fieldLines(spec, makeKey).map(({ name, type, optional }) => [name, type, optional])).toEqual([
    ['label', 'string, 1–40 characters', false],
    ['days', 'integer, 1–3650 | null', true],
    ['scopes', '("live:read" | "live:write")[]', true],
  ])
  expect(typeOf(spec, { type: 'object', additionalProperties: makeKey })).toBe('{ [name]: MakeKey }')
})

test('a recursive type ends', () => {
  const move = { $ref: '#/components/schemas/Move' }
  expect(fieldLines(spec, move)).toMatchObject([{ name: 'next', type: 'Move[]' }])
  expect(exampleOf(spec, move)).toEqual({ next: [null] })
})

test('operations are grouped by tag, without empty tags', () => {
  expect(byTag(spec).map(([tag, operations]) => [tag, operations.map(({ id }) => id)])).toEqual([
    ['live', ['one_room', 'no_room']],
    ['accounts', ['make_key']],
  ])
})

test('a search needs every word to occur', () => {
  const all = byTag(spec).flatMap(([, operations]) => operations)
  expect(filterOperations(all, 'GET room', asIs).map(({ id }) => id)).toEqual(['one_room'])
  expect(filterOperations(all, 'get keys', asIs)).toEqual([])
  expect(filterOperations(all, '部屋', () => '一つの部屋')).toEqual(all)
})

function snippetOf(id: string, security?: Spec['security']): ReturnType<typeof snippetFor> {
  const [operation] = filterOperations(byTag(spec).flatMap(([, all]) => all), id, asIs)
  return snippetFor(spec, { ...operation!, security }, 'http://table')
}

test('a curl command escapes quotes and has a key where one is accepted', () => {
  expect(snippetOf('make_key', [{ session: [] }, { key: [] }]).text).toBe(
    `curl -X POST 'http://table/api/keys' -H 'Authorization: Bearer zk_…' -H 'Content-Type: application/json' ` +
      `-d '{"label":"Ada'\\''s","days":1,"scopes":["live:read"]}'`,
  )
  expect(snippetOf('one_room', []).text).toBe(`curl 'http://table/api/live/rooms/ROOM_ID'`)
})

test('an operation that refuses keys is a fetch for the browser', () => {
  expect(snippetOf('make_key', [{ session: [] }])).toEqual({
    tool: 'fetch',
    text: `await fetch('/api/keys', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({"label":"Ada's","days":1,"scopes":["live:read"]}) })`,
  })
})
