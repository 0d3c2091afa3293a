/** What people do without a word: small tags that rise at the right, and a wave along the lower edge when many clap. */

import type { LiveReacted } from '../generated'
import { Burst } from './applause'
import { stageTime } from './commentElement'

const KINDS = ['clap', 'aha', 'lol'] as const
type Kind = (typeof KINDS)[number]
export type ReactionWords = Record<Kind | 'bravo', string>

const RISING_MS = 2_400
/** A tag that is younger counts on, so that the next one does not touch it. */
const YOUNG_MS = 600
const CREST_MS = 1_280
/** From one crest to the next on its left. */
const PASSING_MS = 70
const SEAL_MS = 3_000

interface Tag {
  element: HTMLElement
  count: number
  since: number
}

export class Applause {
  #burst = new Burst()
  #columns = new Map<Kind, HTMLElement>()
  #latest = new Map<Kind, Tag>()

  constructor(
    readonly stage: HTMLElement,
    readonly words: ReactionWords,
    readonly still: () => boolean,
  ) {
    const tags = element('div', 'tags')
    for (const kind of KINDS) {
      const column = element('div', 'column')
      this.#columns.set(kind, column)
      tags.append(column)
    }
    stage.append(tags)
  }

  heard(reacted: LiveReacted): void {
    const now = stageTime()
    for (const kind of KINDS) {
      const count = reacted[kind] ?? 0
      if (count > 0) this.#count(kind, count, now)
    }
    if (!this.#burst.heard(reacted.clap ?? 0, now)) return
    if (this.still()) this.#seal()
    else this.#wave()
  }

  #count(kind: Kind, count: number, now: number): void {
    const latest = this.#latest.get(kind)
    const young = latest !== undefined && now - latest.since < YOUNG_MS
    const tag = young ? latest : this.#rise(kind, now)
    tag.count += count
    tag.element.textContent = tag.count > 1 ? `${this.words[kind]} ×${tag.count}` : this.words[kind]
  }

  #rise(kind: Kind, now: number): Tag {
    const tag = { element: element('p', 'tag'), count: 0, since: now }
    this.#latest.set(kind, tag)
    // Nothing moves for those who do not want it: one tag of a kind at its place, which the next one replaces.
    if (this.still()) this.#columns.get(kind)?.replaceChildren()
    this.#columns.get(kind)?.append(tag.element)
    const rising = this.still() ? 'none' : 'translateY(-28vh)'
    const way = [
      { opacity: 0, transform: 'none' },
      { opacity: 1, offset: 0.08 },
      { opacity: 1, offset: 0.7 },
      { opacity: 0, transform: rising },
    ]
    tag.element.animate(way, RISING_MS).onfinish = () => tag.element.remove()
    return tag
  }

  /** Crests rise one after the other, from right to left, and sink again. */
  #wave(): void {
    const wave = element('div', 'wave')
    const width = Math.round(Math.max(96, innerHeight / 6))
    wave.style.height = `${width / 2}px`
    const places = Math.ceil((innerWidth / width) * 2) + 1
    const crests = Array.from({ length: places }, (_, place) => {
      const crest = element('i', 'crest')
      crest.style.width = `${width}px`
      crest.style.right = `${((place - 1) * width) / 2}px`
      wave.append(crest)
      return crest
    })
    this.stage.append(wave)
    const rising = [
      { transform: 'translateY(100%)', easing: 'cubic-bezier(.2, .9, .25, 1)' },
      { transform: 'none', offset: 0.45, easing: 'cubic-bezier(.5, 0, .9, .4)' },
      { transform: 'translateY(100%)' },
    ]
    const moving = crests.map((crest, place) =>
      crest.animate(rising, { duration: CREST_MS, delay: (place * PASSING_MS) / 2, fill: 'both' }),
    )
    const last = moving.at(-1)
    if (last) last.onfinish = () => wave.remove()
  }

  #seal(): void {
    const seal = element('p', 'seal bravo')
    seal.textContent = this.words.bravo
    this.stage.append(seal)
    const fading = [{ opacity: 0 }, { opacity: 1, offset: 0.03 }, { opacity: 1, offset: 0.97 }, { opacity: 0 }]
    seal.animate(fading, SEAL_MS).onfinish = () => seal.remove()
  }
}

function element(name: string, kind: string): HTMLElement {
  const made = document.createElement(name)
  made.className = kind
  return made
}
