/** Search hits within a text, matched like the server does: regardless of case and width. */

export interface Piece {
  text: string
  isHit: boolean
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** A text split into hits and the parts between them. */
export function splitByHits(text: string, query: string): Piece[] {
  const needle = fold(query.trim())
  if (!needle) return [{ text, isHit: false }]
  const { folded, starts } = foldWithPositions(text)
  const pieces: Piece[] = []
  let done = 0
  for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + needle.length)) {
    const from = Math.max(done, starts[at]!)
    const to = endOfGrapheme(starts, at + needle.length - 1, text.length)
    if (from > done) pieces.push({ text: text.slice(done, from), isHit: false })
    if (to > from) pieces.push({ text: text.slice(from, to), isHit: true })
    done = Math.max(done, to)
  }
  if (done < text.length) pieces.push({ text: text.slice(done), isHit: false })
  return pieces
}

/** The folded text, and for each of its characters the start of its grapheme in the original text. */
function foldWithPositions(text: string): { folded: string; starts: number[] } {
  const starts: number[] = []
  let folded = ''
  for (const { segment, index } of graphemes.segment(text)) {
    const part = fold(segment)
    folded += part
    for (let at = 0; at < part.length; at += 1) starts.push(index)
  }
  return { folded, starts }
}

/** The end of the grapheme that a folded character comes from. */
function endOfGrapheme(starts: number[], at: number, end: number): number {
  const next = starts.findIndex((start, index) => index > at && start > starts[at]!)
  return next < 0 ? end : starts[next]!
}

function fold(text: string): string {
  // Upper case first: ß becomes SS, and both forms of the small sigma become one.
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
}
