/** The six-digit number of a room, which people type from a slide. */

import type { LiveRoomView } from '../../../generated'
import { call } from '../../../lib/api'

export const CODE_DIGITS = 6

/** The digits of a typed number: full-width digits, spaces and hyphens are accepted. */
export function parseRoomCode(typed: string): string {
  return typed.normalize('NFKC').replace(/\D/g, '')
}

/** The open rooms with this number; more than one on a rare collision. */
export async function findRooms(code: string, signal?: AbortSignal): Promise<LiveRoomView[]> {
  return (await call('GET /api/live/codes/{code}', { path: { code }, signal })).rooms
}
