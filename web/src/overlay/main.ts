/**
 * The overlay of a live room, for OBS or a second screen: nothing but what the room says, on whatever lies beneath.
 *
 * Its words and its room stand in the document, as attributes of the stage.
 */

import type { LiveCommentView, LiveRoomView } from '../generated'
import { Connection } from '../lib/socket/connection'
import { Applause } from './reactions'
import { endCard, note, pinnedTag, wayIn } from './cards'
import { Flights, type Show } from './flyingComments'
import { Hearing } from './roomFeed'
import { optionsOf, pressed, queryOf } from './options'
import './overlay.css'
import { Stack } from './stackedComments'

const stage = document.getElementById('stage') as HTMLElement
const said = (name: string): string => stage.dataset[name] ?? ''
const roomId = said('room')
const still = matchMedia('(prefers-reduced-motion: reduce)')

let options = optionsOf(new URLSearchParams(location.search))
let show = newShow()
let room: LiveRoomView | undefined
let tag: HTMLElement | undefined
let card: HTMLElement | undefined
const foot = document.createElement('div')
foot.className = 'foot'
stage.append(foot)

function newShow(): Show {
  return still.matches ? new Stack(stage, options) : new Flights(stage, options)
}

still.addEventListener('change', () => {
  show.clear()
  show = newShow()
  setFloor()
})

// The pinned comment

function pin(comment: LiveCommentView | undefined): void {
  tag?.remove()
  tag = pinnedTag(comment)
  if (tag) foot.append(tag)
  setFloor()
}

/** Comments have their place above the pinned one; those that lie still, above the way in as well. */
function setFloor(): void {
  const beneath = [tag, still.matches ? card : undefined].filter((it) => it !== undefined)
  const floor = Math.max(0, ...beneath.map((it) => innerHeight - foot.offsetTop - it.offsetTop))
  stage.style.setProperty('--floor', `${floor}px`)
  show.setFloor(floor)
}

// The way in

function invite(): void {
  const wanted = options.qr && room?.status === 'OPEN'
  if (wanted && card && card.dataset.code === room?.code) return
  card?.remove()
  card = wanted ? wayIn(roomId, room?.code, said('publicUrl'), said('qr')) : undefined
  if (card) foot.prepend(card)
  setFloor()
}

addEventListener('resize', setFloor)
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const next = pressed(options, event.key)
  if (!next) return
  options = next
  history.replaceState(null, '', `?${queryOf(options, new URLSearchParams(location.search))}`)
  show.changed(options)
  invite()
})

// The room

function end(): void {
  room = undefined
  pin(undefined)
  invite()
  show.clear()
}

const words = { clap: said('clap'), aha: said('aha'), lol: said('lol'), bravo: said('bravo') }
const applause = new Applause(stage, words, () => still.matches)
const connection = new Connection(() => `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/socket`)
new Hearing(connection, roomId, {
  said: (comment) => show.add(comment),
  gone: (commentId) => show.remove(commentId),
  pinned: pin,
  reacted: (reactions) => applause.heard(reactions),
  room: (now) => {
    room = now
    stage.dataset.joined = 'true'
    invite()
  },
  closed: () => {
    end()
    endCard(stage, said('seal'), said('ended'))
  },
  missing: () => {
    end()
    note(stage, said('missing'))
  },
})

const wake = (): void => {
  if (document.visibilityState === 'visible') connection.wake()
}
document.addEventListener('visibilitychange', wake)
addEventListener('online', wake)
addEventListener('pageshow', wake)
