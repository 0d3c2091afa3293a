/** Elements of the stage: comments as text, the pinned comment, the QR card, and notes. */

import type { LiveCommentView } from '../generated'
import { isOwnMachine } from '../lib/loopback'

const ANONYMOUS = 'Anonymous'
const END_CARD_MS = 8_000

/** The time of the document's timeline in milliseconds, which all animations share. */
export function stageTime(): number {
  return Number(document.timeline.currentTime ?? 0)
}

/**
 * A comment as text, never as markup, after its author's name where names are shown. The host's always has a seal. Each part is
 * isolated, so that right-to-left text does not reorder its neighbours. The texts are data attributes of the stage.
 */
export function commentElement(comment: LiveCommentView, className: string, withName: boolean, texts: DOMStringMap): HTMLElement {
  const element = paragraph(className)
  element.dataset.comment = comment.commentId
  if (comment.host) element.append(hostSeal(texts), ' ')
  const name = withName ? nameOf(comment, texts) : ''
  if (name) element.append(isolated('name', name), ' ')
  element.append(isolated('content', comment.content))
  return element
}

/** The pinned comment on a wooden tag at the lower edge; undefined without one. */
export function pinnedTag(comment: LiveCommentView | undefined, texts: DOMStringMap): HTMLElement | undefined {
  if (!comment) return undefined
  const tag = document.createElement('div')
  tag.className = 'pinned-tag'
  tag.append(commentElement(comment, 'pinned', true, texts))
  return tag
}

/** The name of an author; a number in its place for somebody without one, and nothing beside the seal of the host. */
function nameOf({ nickname, host, anonymousNumber }: LiveCommentView, texts: DOMStringMap): string {
  if (nickname !== ANONYMOUS) return nickname
  return host || !anonymousNumber ? '' : (texts.anonymous ?? '').replace('{n}', String(anonymousNumber))
}

/** The seal of the host, which screen readers read as a word. */
function hostSeal(texts: DOMStringMap): HTMLElement {
  const seal = document.createElement('span')
  seal.className = 'host-seal'
  seal.setAttribute('role', 'img')
  seal.setAttribute('aria-label', texts.host ?? '')
  seal.textContent = texts.hostSeal ?? ''
  return seal
}

/** A QR code of the room, its number, and the address to type it at; it says so when only this machine can open the address. */
export function qrCard(roomId: string, code: string | undefined, texts: DOMStringMap): HTMLElement {
  const { publicUrl = location.origin, qr = '', qrLoopback = '' } = texts
  const card = document.createElement('div')
  card.className = 'qr-card'
  const image = document.createElement('img')
  image.src = `/qr.svg?path=${encodeURIComponent(code ? `/l/${code}` : `/live/${roomId}`)}`
  image.alt = qr
  card.append(image)
  const warning = isOwnMachine(publicUrl) ? [paragraph('loopback', qrLoopback)] : []
  if (!code) {
    card.append(...warning)
    return card
  }
  card.dataset.code = code
  const link = paragraph('link', publicUrl.replace(/^https?:\/\//, ''))
  link.append(document.createElement('wbr'), `/l/${code}`)
  card.append(paragraph('code', code), link, ...warning)
  return card
}

/** Show a seal and a text at the end of the room, for a few seconds. */
export function showEndCard(stage: HTMLElement, seal: string, text: string): void {
  const card = showNote(stage, text)
  card.prepend(paragraph('seal', seal))
  const keyframes = [{ opacity: 0 }, { opacity: 1, offset: 0.04 }, { opacity: 1, offset: 0.94 }, { opacity: 0 }]
  card.animate(keyframes, END_CARD_MS).onfinish = () => card.remove()
}

/** Show a sentence on paper in the middle of the stage. */
export function showNote(stage: HTMLElement, text: string): HTMLElement {
  const card = document.createElement('div')
  card.className = 'note'
  card.append(paragraph('text', text))
  stage.append(card)
  return card
}

function paragraph(className: string, text = ''): HTMLElement {
  const element = document.createElement('p')
  element.className = className
  element.textContent = text
  return element
}

function isolated(className: string, text: string): HTMLElement {
  const element = document.createElement('bdi')
  element.className = className
  element.textContent = text
  return element
}
