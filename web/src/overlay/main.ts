/**
 * The overlay of a live room, for OBS or a second screen, with a transparent background or a colour.
 *
 * Its texts and its room are data attributes of the stage element in the document.
 */

import type { LiveCommentView, LiveRoomView } from '../generated'
import { Connection } from '../lib/socket/connection'
import { pinnedTag, qrCard, showEndCard, showNote } from './elements'
import { FlyingComments, type CommentDisplay } from './flyingComments'
import { applyKey, parseOptions, toQuery } from './options'
import './overlay.css'
import { Reactions } from './reactions'
import { RoomFeed } from './roomFeed'
import { StackedComments } from './stackedComments'

const stage = document.getElementById('stage') as HTMLElement
const attribute = (name: string): string => stage.dataset[name] ?? ''
const roomId = attribute('room')
const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)')

let options = parseOptions(new URLSearchParams(location.search))
if (options.background !== null) document.documentElement.style.backgroundColor = `#${options.background}`
let display = createDisplay()
let room: LiveRoomView | undefined
let pinned: HTMLElement | undefined
let card: HTMLElement | undefined
const foot = document.createElement('div')
foot.className = 'foot'
stage.append(foot)

function createDisplay(): CommentDisplay {
  return reducedMotion.matches ? new StackedComments(stage, options) : new FlyingComments(stage, options)
}

reducedMotion.addEventListener('change', () => {
  display.clear()
  display = createDisplay()
  updateFloor()
})

// The pinned comment

function showPinned(comment: LiveCommentView | undefined): void {
  pinned?.remove()
  pinned = pinnedTag(comment, stage.dataset)
  if (pinned) foot.append(pinned)
  updateFloor()
}

/** Comments stay above the pinned one; stacked ones stay above the QR card as well. */
function updateFloor(): void {
  const obstacles = [pinned, reducedMotion.matches ? card : undefined].filter((element) => element !== undefined)
  const floor = Math.max(0, ...obstacles.map((element) => innerHeight - foot.offsetTop - element.offsetTop))
  stage.style.setProperty('--floor', `${floor}px`)
  display.setFloor(floor)
}

// The QR card

function updateQrCard(): void {
  const isWanted = options.qr && room?.status === 'OPEN'
  if (isWanted && card && card.dataset.code === room?.code) return
  card?.remove()
  card = isWanted ? qrCard(roomId, room?.code, stage.dataset) : undefined
  if (card) foot.prepend(card)
  updateFloor()
}

addEventListener('resize', updateFloor)
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const next = applyKey(options, event.key)
  if (!next) return
  options = next
  history.replaceState(null, '', `?${toQuery(options, new URLSearchParams(location.search))}`)
  display.setOptions(options)
  updateQrCard()
})

// The room

function clearStage(): void {
  room = undefined
  showPinned(undefined)
  updateQrCard()
  display.clear()
}

const texts = { clap: attribute('clap'), aha: attribute('aha'), lol: attribute('lol'), bravo: attribute('bravo') }
const reactions = new Reactions(stage, texts, () => reducedMotion.matches)
const connection = new Connection(() => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/socket`)
new RoomFeed(connection, roomId, {
  commented: (comment) => display.add(comment),
  removed: (commentId) => display.remove(commentId),
  pinned: showPinned,
  reacted: (reacted) => reactions.show(reacted),
  roomChanged: (changed) => {
    room = changed
    stage.dataset.joined = 'true'
    updateQrCard()
  },
  closed: () => {
    clearStage()
    showEndCard(stage, attribute('seal'), attribute('ended'))
  },
  missing: () => {
    clearStage()
    showNote(stage, attribute('missing'))
  },
})

const wake = (): void => {
  if (document.visibilityState === 'visible') connection.wake()
}
document.addEventListener('visibilitychange', wake)
addEventListener('online', wake)
addEventListener('offline', () => connection.offline())
addEventListener('pageshow', wake)
