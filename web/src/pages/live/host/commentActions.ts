/** The host's actions for one comment, in a fixed order, labelled by their effect; and moving between their buttons by keys. */

import type { LiveCommentView } from '../../../generated'
import { t } from '../../../lib/texts.svelte'
import type { IconName } from '../audience/Icon.svelte'
import type { LiveRoom } from '../room/room.svelte'
import type { HostModeration, ModerationAction } from './moderation.svelte'

export interface CommentAction {
  name: 'pin' | 'answer' | 'hide' | 'delete' | 'block'
  label: string
  command: ModerationAction
  /** The key that runs it while the focus is on the comment; actions with a key show in the row, as an icon. */
  key?: string
  icon?: IconName
  /** It needs a confirmation. */
  irreversible?: boolean
}

/** The part of a room that decides which actions a comment has. */
export type CommentMarks = Pick<LiveRoom, 'state' | 'pinned' | 'answered' | 'hidden' | 'isMine'>

export function actionsFor(room: CommentMarks, moderation: HostModeration, comment: LiveCommentView): CommentAction[] {
  const { commentId } = comment
  const hidden = room.hidden.has(commentId)
  const answered = room.answered.has(commentId)
  const pinned = room.pinned.some((pin) => pin.commentId === commentId)
  const blocked = moderation.isBlocked(comment)
  const actions: CommentAction[] = [
    { name: 'pin', key: 'p', icon: pinned ? 'unpin' : 'pin', label: t(pinned ? 'livehost.unpin' : 'livehost.pin'), command: { k: 'mark', commentId, mark: 'PINNED', on: !pinned } },
    { name: 'answer', key: 'a', icon: answered ? 'reask' : 'answer', label: t(answered ? 'livehost.reask' : 'livehost.answer'), command: { k: 'mark', commentId, mark: 'ANSWERED', on: !answered } },
    { name: 'hide', key: 'h', icon: hidden ? 'show' : 'hide', label: t(hidden ? 'livehost.show' : 'livehost.hide'), command: { k: 'mark', commentId, mark: 'HIDDEN', on: !hidden } },
    { name: 'block', label: t(blocked ? 'livehost.unblock' : 'livehost.block'), command: { k: 'block_sender', commentId, on: !blocked } },
    { name: 'delete', label: t('livehost.delete'), command: { k: 'delete', commentId }, irreversible: true },
  ]
  // The audience does not see a hidden comment, so there is nothing to pin or to answer.
  const applicable = actions.filter(({ name }) => !(hidden && (name === 'pin' || name === 'answer')))
  // Hosts cannot block themselves, and a closed room accepts no comments anyway.
  return applicable.filter(({ name }) => name !== 'block' || (room.state === 'open' && !room.isMine(comment)))
}

const BUTTONS = ':scope > button'

/** The button that an arrow key leads to: ← → within a row, ↑ ↓ to the same column of the next row; undefined at an end. */
export function buttonByArrowKey(event: KeyboardEvent, row: HTMLElement | undefined): HTMLElement | undefined {
  if (!row) return undefined
  const buttons = buttonsOf(row)
  const column = buttons.findIndex((button) => button === event.target)
  if (column < 0) return undefined
  if (event.key === 'ArrowRight') return buttons[column + 1]
  if (event.key === 'ArrowLeft') return buttons[column - 1]
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  return step === undefined ? undefined : buttonInRow(row, step, column)
}

function buttonInRow(row: HTMLElement, step: number, column: number): HTMLElement | undefined {
  const rows = [...(row.closest('[role=log]')?.querySelectorAll<HTMLElement>('[data-comment-actions]') ?? [])]
  const nextRow = rows[rows.indexOf(row) + step]
  if (!nextRow) return undefined
  const buttons = buttonsOf(nextRow)
  return buttons[column] ?? buttons.at(-1)
}

function buttonsOf(row: HTMLElement): HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>(BUTTONS)]
}
