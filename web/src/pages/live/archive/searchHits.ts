/** Where in a text something stands that was looked for, as the server finds it: whatever the case and width of letters. */

export interface Piece {
  text: string
  hit: boolean
}

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** A text in pieces, those that were looked for and those between. Together they are the text. */
export function pieces(text: string, wanted: string): Piece[] {
  const needle = folded(wanted.trim())
  if (!needle) return [{ text, hit: false }]
  const { all, starts } = unfolded(text)
  const found: Piece[] = []
  let done = 0
  for (let at = all.indexOf(needle); at >= 0; at = all.indexOf(needle, at + needle.length)) {
    const from = Math.max(done, starts[at]!)
    const to = ending(starts, at + needle.length - 1, text.length)
    if (from > done) found.push({ text: text.slice(done, from), hit: false })
    if (to > from) found.push({ text: text.slice(from, to), hit: true })
    done = Math.max(done, to)
  }
  if (done < text.length) found.push({ text: text.slice(done), hit: false })
  return found
}

/** The folded text, and for each of its characters where the letter begins that it comes from. */
function unfolded(text: string): { all: string; starts: number[] } {
  const starts: number[] = []
  let all = ''
  for (const { segment, index } of letters.segment(text)) {
    const part = folded(segment)
    all += part
    for (let at = 0; at < part.length; at += 1) starts.push(index)
  }
  return { all, starts }
}

/** Where the letter ends that a folded character comes from. */
function ending(starts: number[], at: number, end: number): number {
  const next = starts.findIndex((start, place) => place > at && start > starts[at]!)
  return next < 0 ? end : starts[next]!
}

function folded(text: string): string {
  // Large letters first: ß is SS, and both kinds of a small sigma are one.
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
}
