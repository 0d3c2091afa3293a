/** The account of this browser: a guest, a user or an admin. Loaded once; signing in and out change it. */

import { call } from './api'
import type { Me } from '../generated'
import { reconnectSocket } from './socket.svelte'

let current = $state.raw<Me | null>(null)
let loading: Promise<Me> | undefined

/** `me.current` is null until the server has answered. */
export const me = {
  get current(): Me | null {
    return current
  },
  get signedIn(): boolean {
    return current !== null && current.role !== 'guest'
  },
  get isAdmin(): boolean {
    return current?.role === 'admin'
  },
}

/** Load the account unless it is known. A failed request is repeated by the next caller. */
export function loadMe(): Promise<Me> {
  loading ??= call('GET /api/me').then(setCurrent, (error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/** Load the account again: its session may have been ended elsewhere. */
export function reloadMe(): Promise<Me> {
  loading = undefined
  return loadMe()
}

export async function signUp(name: string, password: string): Promise<void> {
  becomeUser(await call('POST /api/accounts', { body: { name, password } }))
}

export async function signIn(name: string, password: string): Promise<void> {
  becomeUser(await call('POST /api/sessions', { body: { name, password } }))
}

export async function signOut(): Promise<void> {
  await call('DELETE /api/sessions/current')
  await becomeGuest()
}

export async function signOutEverywhere(): Promise<void> {
  await call('DELETE /api/sessions')
  await becomeGuest()
}

export async function rename(name: string): Promise<void> {
  becomeUser(await call('PATCH /api/me', { body: { name } }))
}

export async function deleteAccount(password?: string): Promise<void> {
  await call('DELETE /api/me', { body: { password } })
  await becomeGuest()
}

async function becomeGuest(): Promise<void> {
  current = null
  loading = undefined
  reconnectSocket()
  await loadMe().catch(() => undefined)
}

function becomeUser(account: Me): void {
  loading = Promise.resolve(setCurrent(account))
  reconnectSocket()
}

function setCurrent(account: Me): Me {
  current = account
  return account
}
