/** Text with code between backticks, as descriptions of operations have it. */

export interface Piece {
  text: string
  isCode: boolean
}

/** The pieces of a text. A backtick without a partner is a character like any other. */
export function splitCode(text: string): Piece[] {
  const pieces = text.split(/`([^`]+)`/).map((piece, at) => ({ text: piece, isCode: at % 2 === 1 }))
  return pieces.filter((piece) => piece.text !== '')
}
