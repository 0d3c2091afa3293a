/** The six-digit number of a room, which people type from a slide. */

import type { LiveRoomView } from '../../../generated'
import { call } from '../../../lib/api'

const FORM = /^[0-9]{6}$/
const SHORT_ADDRESS = /\/l\/([0-9]{6})\/?$/

/**
 * The number that was typed: full-width digits, spaces and hyphens are accepted, and the short address of a room. Undefined
 * for what is no room number.
 */
export function parseRoomCode(typed: string): string | undefined {
  const text = typed.normalize('NFKC').trim()
  const code = SHORT_ADDRESS.exec(text)?.[1] ?? text.replace(/[\s\p{Dash}]/gu, '')
  return FORM.test(code) ? code : undefined
}

/** The open rooms with this number, more than one on a rare collision, or the one that had it last and has ended. */
export async function findRooms(code: string, signal?: AbortSignal): Promise<LiveRoomView[]> {
  return (await call('GET /api/live/codes/{code}', { path: { code }, signal })).rooms
}
