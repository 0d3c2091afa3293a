import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { LiveCommentView, LiveLogView, LiveHostView } from '../../../generated'
import type { ModeratedRoom, HostModeration } from './moderation.svelte'

interface PendingRequest {
  body: unknown
  answer: (status: number, body: unknown) => void
}

// The modules use browser globals on import, so they are imported after the stubs.
const importModules = async () => ({
  ...(await import('./moderation.svelte')),
  ...(await import('./commentActions')),
  ...(await import('../../../lib/toasts.svelte')),
  ...(await import('../../../lib/texts.svelte')),
})
let host: Awaited<ReturnType<typeof importModules>>
let requests: PendingRequest[]
let room: ModeratedRoom

beforeAll(async () => {
  vi.stubGlobal('document', { documentElement: { lang: 'en' }, addEventListener: () => undefined })
  vi.stubGlobal('addEventListener', () => undefined)
  vi.stubGlobal('fetch', (_: string, { body, signal }: RequestInit) => new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error))
    const answer = (status: number, json: unknown): void => resolve(new Response(JSON.stringify(json), { status }))
    requests.push({ body: body && JSON.parse(body as string), answer })
  }))
  host = await importModules()
  await host.loadTexts()
}, 60_000)

beforeEach(() => {
  requests = []
  room = { id: 'A', comments: [comment(1), comment(2), comment(3)], onModerated: null, onSnapshot: null }
  for (const { id } of [...host.toasts]) host.dismiss(id)
})

afterAll(() => vi.unstubAllGlobals())

function comment(seq: number): LiveCommentView {
  return { commentId: `id-${seq}`, seq: String(seq).padStart(12, '0'), content: `c${seq}`, nickname: 'Ada', createdAt: '' }
}

function entry(logId: string, action: LiveLogView['action'], subject?: string, fields: Partial<LiveLogView> = {}): LiveLogView {
  return { logId, at: `2025-11-16T00:00:0${logId}.000Z`, action, subject, ...fields }
}

async function loadModeration(state: Partial<LiveHostView> = {}): Promise<HostModeration> {
  const moderation = new host.HostModeration(room)
  const loading = moderation.load()
  answer(200, { log: [], words: [], senders: [], hidden: [], ...state })
  await loading
  return moderation
}

function answer(status: number, body: unknown): void {
  requests.shift()!.answer(status, body)
}

const contents = (moderation: HostModeration): string[] => moderation.hidden.map((comment) => comment.content)

test('an action reported by its response and over the socket counts once', async () => {
  const moderation = await loadModeration({ words: ['zebra'] })
  const done = moderation.execute({ k: 'block_word', word: 'Ape' })
  expect(requests[0]!.body).toEqual({ k: 'block_word', word: 'Ape' })
  room.onModerated!(entry('1', 'BLOCK_WORD', 'ape'))
  answer(200, { entry: entry('1', 'BLOCK_WORD', 'ape') })
  expect(await done).toBe(true)
  room.onModerated!(entry('1', 'BLOCK_WORD', 'ape'))
  expect(moderation.words).toEqual(['ape', 'zebra'])
  expect(moderation.log).toHaveLength(1)
})

test('an action shows only after its response, and is not sent twice at a time', async () => {
  const moderation = await loadModeration()
  const action = { k: 'mark', commentId: 'id-2', mark: 'HIDDEN' } as const
  const first = moderation.execute(action)
  expect(moderation.isBusy(action)).toBe(true)
  expect(await moderation.execute(action)).toBe(false)
  expect(requests).toHaveLength(1)
  expect(moderation.hidden).toEqual([])
  answer(200, { entry: entry('1', 'HIDE', 'id-2') })
  await first
  expect(contents(moderation)).toEqual(['c2'])
  expect(moderation.isBusy(action)).toBe(false)
})

test('a late response does not revert a later undo', async () => {
  const moderation = await loadModeration()
  const hidden = moderation.execute({ k: 'mark', commentId: 'id-2', mark: 'HIDDEN' })
  room.onModerated!(entry('1', 'HIDE', 'id-2'))
  room.onModerated!(entry('2', 'SHOW', 'id-2'))
  answer(200, { entry: entry('1', 'HIDE', 'id-2') })
  await hidden
  expect(moderation.hidden).toEqual([])
  expect(moderation.log.map((entry) => entry.logId)).toEqual(['2', '1'])
})

test('hiding is undone from the toast', async () => {
  const moderation = await loadModeration()
  const hidden = moderation.execute({ k: 'mark', commentId: 'id-2', mark: 'HIDDEN', on: true })
  answer(200, { entry: entry('1', 'HIDE', 'id-2') })
  await hidden
  expect(host.toasts.at(-1)!.action!.label).toBe('Undo')
  host.toasts.at(-1)!.action!.run()
  expect(requests[0]!.body).toEqual({ k: 'mark', commentId: 'id-2', mark: 'HIDDEN', on: false })
  answer(200, { entry: entry('2', 'SHOW', 'id-2') })
  await vi.waitFor(() => expect(moderation.hidden).toEqual([]))
  expect(host.toasts).toHaveLength(1)
})

test('a deletion has no undo, and the comment’s text leaves the log', async () => {
  const moderation = await loadModeration({ log: [entry('1', 'PIN', 'id-2', { about: 'c2' })], hidden: [comment(2)] })
  const deleted = moderation.execute({ k: 'delete', commentId: 'id-2' })
  answer(200, { entry: entry('2', 'DELETE', 'id-2') })
  await deleted
  expect(host.toasts.at(-1)).toMatchObject({ text: 'Deleted', action: undefined })
  expect(moderation.hidden).toEqual([])
  expect(moderation.log.map((entry) => entry.about)).toEqual([undefined, undefined])
})

test('a rejected action shows its error and changes nothing', async () => {
  const moderation = await loadModeration()
  const pinned = moderation.execute({ k: 'mark', commentId: 'id-1', mark: 'PINNED' })
  answer(409, { error: { code: 'too_many_pins', message: '', details: { most: 5 } } })
  expect(await pinned).toBe(false)
  expect(host.toasts.at(-1)!.text).toBe('Up to 5 comments can be pinned. Unpin one first.')
  expect(moderation.log).toEqual([])
  const paused = moderation.execute({ k: 'pause' })
  answer(403, { error: { code: 'not_the_host', message: '', details: {} } })
  expect(await paused).toBe(false)
  expect(host.toasts.at(-1)!.text).toBe('Only the host can do that.')
})

test('blocking a blocked sender says so, and the state is loaded again', async () => {
  const moderation = await loadModeration()
  const blocked = moderation.execute({ k: 'block_sender', commentId: 'id-3' })
  answer(200, {})
  expect(await blocked).toBe(true)
  expect(host.toasts.at(-1)).toMatchObject({ text: "They're blocked already", action: undefined })
  answer(200, { log: [], words: [], senders: [{ commentId: 'id-1', at: '', about: 'c1' }], hidden: [] })
  await vi.waitFor(() => expect(moderation.senders).toHaveLength(1))
})

test('a sender is blocked and unblocked by one of their comments', async () => {
  const moderation = await loadModeration()
  room.onModerated!(entry('1', 'BLOCK_SENDER', 'id-2', { about: 'c2' }))
  expect(moderation.senders).toMatchObject([{ commentId: 'id-2', about: 'c2', nickname: 'Ada' }])
  expect(moderation.isBlocked(comment(2))).toBe(true)
  room.onModerated!(entry('2', 'UNBLOCK_SENDER', 'id-2'))
  expect(moderation.senders).toEqual([])
  expect(requests).toEqual([])
})

test('an entry that arrives while the state loads is not lost to an older response', async () => {
  const moderation = await loadModeration()
  room.onSnapshot!()
  room.onModerated!(entry('2', 'BLOCK_WORD', 'late'))
  answer(200, { log: [entry('1', 'BLOCK_WORD', 'early')], words: ['early'], senders: [], hidden: [] })
  await vi.waitFor(() => expect(moderation.words).toEqual(['early', 'late']))
  expect(moderation.log.map((entry) => entry.logId)).toEqual(['2', '1'])
})

test('of two concurrent loads the later response counts, with the entries that arrived during either', async () => {
  const moderation = await loadModeration()
  room.onSnapshot!()
  room.onModerated!(entry('2', 'BLOCK_WORD', 'late'))
  room.onSnapshot!()
  requests.shift()
  answer(200, { log: [], words: ['other'], senders: [], hidden: [] })
  await vi.waitFor(() => expect(moderation.words).toEqual(['late', 'other']))
})

test('a comment that was hidden elsewhere and is not loaded is fetched', async () => {
  const moderation = await loadModeration({ hidden: [comment(3)] })
  room.onModerated!(entry('1', 'HIDE', 'id-9'))
  expect(contents(moderation)).toEqual(['c3'])
  answer(200, { log: [entry('1', 'HIDE', 'id-9')], words: [], senders: [], hidden: [comment(3), comment(9)] })
  await vi.waitFor(() => expect(contents(moderation)).toEqual(['c3', 'c9']))
})

test('a failed load keeps the known state, and can be requested again', async () => {
  const moderation = await loadModeration({ words: ['kept'] })
  room.onModerated!(entry('0', 'BLOCK_WORD', 'since'))
  room.onSnapshot!()
  answer(503, { error: { code: 'unavailable', message: '', details: {} } })
  await vi.waitFor(() => expect(moderation.error).not.toBeNull())
  expect(moderation.words).toEqual(['kept', 'since'])
  room.onModerated!(entry('1', 'PAUSE'))
  expect(moderation.log).toHaveLength(2)
  void moderation.load()
  answer(200, { log: [], words: [], senders: [], hidden: [] })
  await vi.waitFor(() => expect(moderation.error).toBeNull())
})

test('the actions of a comment are labelled by their effect', async () => {
  const moderation = await loadModeration({ senders: [{ commentId: 'id-2', at: '' }] })
  const room = { state: 'open' as const, pinned: [comment(2)], answered: new Set(['id-2']), hidden: new Set(['id-3']), isMine: (mine: LiveCommentView) => mine.seq === comment(3).seq }
  const labels = (seq: number): string[] => host.actionsFor(room, moderation, comment(seq)).map((action) => action.label)
  expect(labels(1)).toEqual(['Pin', 'Mark answered', 'Hide', 'Block sender', 'Delete'])
  expect(labels(2)).toEqual(['Unpin', 'Mark unanswered', 'Hide', 'Unblock', 'Delete'])
  // Hidden, and the host's own.
  expect(labels(3)).toEqual(['Show again', 'Delete'])
  // In a closed room there is no one to block.
  expect(host.actionsFor({ ...room, state: 'closed' }, moderation, comment(1)).map((action) => action.name)).not.toContain('block')
  const [pin, , , block, remove] = host.actionsFor(room, moderation, comment(2))
  expect(pin!.command).toEqual({ k: 'mark', commentId: 'id-2', mark: 'PINNED', on: false })
  expect(block!.command).toEqual({ k: 'block_sender', commentId: 'id-2', on: false })
  expect(remove!.irreversible).toBe(true)
})
