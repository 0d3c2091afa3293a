/** The number that leads to a room, as people type it off a slide. */

export const CODE_DIGITS = 6

/** Its digits: wide ones of a Japanese keyboard are the same, and so is a number with blanks or a hyphen in it. */
export function digitsOf(typed: string): string {
  return typed.normalize('NFKC').replace(/\D/g, '')
}
