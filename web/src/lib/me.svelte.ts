/** Who sits here: a guest, a user or the host. Asked for once; signing in and out change it. */

import { call } from './api'
import type { Me } from '../generated'
import { renewSocket } from './socket.svelte'

let current = $state.raw<Me | null>(null)
let asking: Promise<Me> | undefined

/** `me.current` is null until the server has said who it is. */
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

/** Ask who sits here, unless it is known. A failed question is asked anew by the next caller. */
export function whoAmI(): Promise<Me> {
  asking ??= call('GET /api/me').then(note, (error: unknown) => {
    asking = undefined
    throw error
  })
  return asking
}

/** Ask anew: what was known may have ended elsewhere, as when somebody was signed out everywhere. */
export function askAgain(): Promise<Me> {
  asking = undefined
  return whoAmI()
}

export async function signUp(name: string, password: string): Promise<void> {
  seated(await call('POST /api/accounts', { body: { name, password } }))
}

export async function signIn(name: string, password: string): Promise<void> {
  seated(await call('POST /api/sessions', { body: { name, password } }))
}

export async function signOut(): Promise<void> {
  await call('DELETE /api/sessions/current')
  await stoodUp()
}

export async function signOutEverywhere(): Promise<void> {
  await call('DELETE /api/sessions')
  await stoodUp()
}

export async function rename(name: string): Promise<void> {
  seated(await call('PATCH /api/me', { body: { name } }))
}

export async function deleteAccount(password?: string): Promise<void> {
  await call('DELETE /api/me', { body: { password } })
  await stoodUp()
}

/** Whoever sits here now is a guest again, whom the server may not have met yet. */
async function stoodUp(): Promise<void> {
  current = null
  asking = undefined
  renewSocket()
  await whoAmI().catch(() => undefined)
}

function seated(now: Me): void {
  asking = Promise.resolve(note(now))
  renewSocket()
}

function note(now: Me): Me {
  current = now
  return now
}
