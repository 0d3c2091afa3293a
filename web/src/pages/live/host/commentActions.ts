/** What a host can do with one comment: always the same things at the same places, named after what they would do now. */

import type { LiveCommentView } from '../../../generated'
import { t } from '../../../lib/texts.svelte'
import type { LiveRoom } from '../room/room.svelte'
import type { Act, Moderation } from './moderation.svelte'

export interface Deed {
  name: 'pin' | 'answer' | 'hide' | 'delete' | 'block'
  label: string
  act: Act
  /** The key that does it while the focus is on the comment; what has one is at hand in its row. */
  key?: string
  /** It cannot be undone: whoever wants it is asked first. */
  forGood?: boolean
}

/** What must be known of a room. */
export type Marked = Pick<LiveRoom, 'state' | 'pinned' | 'answered' | 'hidden' | 'isMine'>

export function deedsOn(room: Marked, moderation: Moderation, comment: LiveCommentView): Deed[] {
  const { commentId } = comment
  const hidden = room.hidden.has(commentId)
  const answered = room.answered.has(commentId)
  const pinned = room.pinned.some((one) => one.commentId === commentId)
  const blocked = moderation.isBlocked(comment)
  const deeds: Deed[] = [
    { name: 'pin', key: 'p', label: t(pinned ? 'livehost.unpin' : 'livehost.pin'), act: { k: 'mark', commentId, mark: 'PINNED', on: !pinned } },
    { name: 'answer', key: 'a', label: t(answered ? 'livehost.reask' : 'livehost.answer'), act: { k: 'mark', commentId, mark: 'ANSWERED', on: !answered } },
    { name: 'hide', key: 'h', label: t(hidden ? 'livehost.show' : 'livehost.hide'), act: { k: 'mark', commentId, mark: 'HIDDEN', on: !hidden } },
    { name: 'block', label: t(blocked ? 'livehost.unblock' : 'livehost.block'), act: { k: 'block_sender', commentId, on: !blocked } },
    { name: 'delete', label: t('livehost.delete'), act: { k: 'delete', commentId }, forGood: true },
  ]
  // Nobody sees what is hidden, so there is nothing to pin or to answer.
  const visible = deeds.filter(({ name }) => !(hidden && (name === 'pin' || name === 'answer')))
  // Hosts do not keep themselves out; and when a talk is over, nobody comes in anyway.
  return visible.filter(({ name }) => name !== 'block' || (room.state === 'open' && !room.isMine(comment)))
}
