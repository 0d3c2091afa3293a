/** Reactions on the stage: small tags that rise at the right, and a wave along the lower edge when many people clap. */

import type { LiveReacted } from '../generated'
import { stageTime } from './elements'

const KINDS = ['clap', 'aha', 'lol'] as const
type Kind = (typeof KINDS)[number]
export type ReactionTexts = Record<Kind | 'bravo', string>

const RISE_MS = 2_400
/** A younger tag counts up instead of a second one rising over it. */
const TAG_MERGE_MS = 600
const CREST_MS = 1_280
/** Between the start of one crest and of the next one on its left. */
const CREST_DELAY_MS = 70
const SEAL_MS = 3_000

const APPLAUSE_CLAPS = 20
const APPLAUSE_WINDOW_MS = 3_000
/** With fewer claps the applause is over, and another one can begin. */
const APPLAUSE_END_CLAPS = 10

interface Tag {
  element: HTMLElement
  count: number
  since: number
}

export class Reactions {
  #applause = new ApplauseDetector()
  #columns = new Map<Kind, HTMLElement>()
  #latestTags = new Map<Kind, Tag>()

  constructor(
    readonly stage: HTMLElement,
    readonly texts: ReactionTexts,
    readonly isStill: () => boolean,
  ) {
    const tags = element('div', 'tags')
    for (const kind of KINDS) {
      const column = element('div', 'column')
      this.#columns.set(kind, column)
      tags.append(column)
    }
    stage.append(tags)
  }

  show(reacted: LiveReacted): void {
    const now = stageTime()
    for (const kind of KINDS) {
      const count = reacted[kind] ?? 0
      if (count > 0) this.#count(kind, count, now)
    }
    if (!this.#applause.add(reacted.clap ?? 0, now)) return
    if (this.isStill()) this.#showSeal()
    else this.#showWave()
  }

  #count(kind: Kind, count: number, now: number): void {
    const latest = this.#latestTags.get(kind)
    const isYoung = latest !== undefined && now - latest.since < TAG_MERGE_MS
    const tag = isYoung ? latest : this.#addTag(kind, now)
    tag.count += count
    tag.element.textContent = tag.count > 1 ? `${this.texts[kind]} ×${tag.count}` : this.texts[kind]
  }

  #addTag(kind: Kind, now: number): Tag {
    const tag = { element: element('p', 'tag'), count: 0, since: now }
    this.#latestTags.set(kind, tag)
    // With reduced motion there is one tag of a kind in place, which the next one replaces.
    if (this.isStill()) this.#columns.get(kind)?.replaceChildren()
    this.#columns.get(kind)?.append(tag.element)
    const risen = this.isStill() ? 'none' : 'translateY(-28vh)'
    const keyframes = [
      { opacity: 0, transform: 'none' },
      { opacity: 1, offset: 0.08 },
      { opacity: 1, offset: 0.7 },
      { opacity: 0, transform: risen },
    ]
    tag.element.animate(keyframes, RISE_MS).onfinish = () => tag.element.remove()
    return tag
  }

  /** Crests rise one after the other, from right to left, and sink again. */
  #showWave(): void {
    const wave = element('div', 'wave')
    const width = Math.round(Math.max(96, innerHeight / 6))
    wave.style.height = `${width / 2}px`
    const count = Math.ceil((innerWidth / width) * 2) + 1
    const crests = Array.from({ length: count }, (_, index) => {
      const crest = element('i', 'crest')
      crest.style.width = `${width}px`
      crest.style.right = `${((index - 1) * width) / 2}px`
      wave.append(crest)
      return crest
    })
    this.stage.append(wave)
    const keyframes = [
      { transform: 'translateY(100%)', easing: 'cubic-bezier(.2, .9, .25, 1)' },
      { transform: 'none', offset: 0.45, easing: 'cubic-bezier(.5, 0, .9, .4)' },
      { transform: 'translateY(100%)' },
    ]
    const animations = crests.map((crest, index) =>
      crest.animate(keyframes, { duration: CREST_MS, delay: (index * CREST_DELAY_MS) / 2, fill: 'both' }),
    )
    const last = animations.at(-1)
    if (last) last.onfinish = () => wave.remove()
  }

  #showSeal(): void {
    const seal = element('p', 'seal bravo')
    seal.textContent = this.texts.bravo
    this.stage.append(seal)
    const keyframes = [{ opacity: 0 }, { opacity: 1, offset: 0.03 }, { opacity: 1, offset: 0.97 }, { opacity: 0 }]
    seal.animate(keyframes, SEAL_MS).onfinish = () => seal.remove()
  }
}

/** Detects applause: enough claps within a short window, reported once until it has died down. */
export class ApplauseDetector {
  #claps: { at: number; count: number }[] = []
  #ongoing = false

  /** Count claps. True when they start an applause. */
  add(count: number, now: number): boolean {
    this.#claps = this.#claps.filter((clap) => clap.at > now - APPLAUSE_WINDOW_MS)
    if (this.#total < APPLAUSE_END_CLAPS) this.#ongoing = false
    this.#claps.push({ at: now, count })
    if (this.#ongoing || this.#total < APPLAUSE_CLAPS) return false
    this.#ongoing = true
    return true
  }

  get #total(): number {
    return this.#claps.reduce((sum, clap) => sum + clap.count, 0)
  }
}

function element(name: string, className: string): HTMLElement {
  const element = document.createElement(name)
  element.className = className
  return element
}
