/** What lies still on the stage: the pinned comment, the way into the room, and how it ended. */

import type { LiveCommentView } from '../generated'
import { spoken } from './commentElement'

const ENDED_MS = 8_000

/** The pinned comment on a wooden tag at the lower edge, or none. */
export function pinnedTag(comment: LiveCommentView | undefined): HTMLElement | undefined {
  if (!comment) return undefined
  const tag = document.createElement('div')
  tag.className = 'fuda'
  tag.append(spoken(comment, 'pinned', true))
  return tag
}

/** A code to point a phone at, the number to type instead, and the address that takes it. */
export function wayIn(roomId: string, code: string | undefined, publicUrl: string, label: string): HTMLElement {
  const card = document.createElement('div')
  card.className = 'way-in'
  const picture = document.createElement('img')
  picture.src = `/qr.svg?path=${encodeURIComponent(`/live/${roomId}`)}`
  picture.alt = label
  card.append(picture)
  if (!code) return card
  card.dataset.code = code
  const link = line('link', publicUrl.replace(/^https?:\/\//, ''))
  link.append(document.createElement('wbr'), `/l/${code}`)
  card.append(line('code', code), link)
  return card
}

/** A seal and a word at the end. It stays for a moment, and then there is nothing. */
export function endCard(stage: HTMLElement, seal: string, text: string): void {
  const card = note(stage, text)
  card.prepend(line('seal', seal))
  card.animate([{ opacity: 0 }, { opacity: 1, offset: 0.04 }, { opacity: 1, offset: 0.94 }, { opacity: 0 }], ENDED_MS).onfinish = () => card.remove()
}

/** A sentence on paper, in the middle. */
export function note(stage: HTMLElement, text: string): HTMLElement {
  const card = document.createElement('div')
  card.className = 'note'
  card.append(line('text', text))
  stage.append(card)
  return card
}

function line(kind: string, text: string): HTMLElement {
  const element = document.createElement('p')
  element.className = kind
  element.textContent = text
  return element
}
