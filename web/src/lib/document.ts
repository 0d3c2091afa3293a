/** What the server wrote into the document, and what the pages change in it. */

/** A path of ours as others reach it: under the host's public address, which the document's own tags carry. */
export function publicUrl(path: string): string {
  const given = document.querySelector<HTMLMetaElement>('meta[property="og:url"]')?.content
  return new URL(path, given || location.origin).href
}

/** The title of the window: the page's own, then the house. */
export function setTitle(title: string, house: string): void {
  document.title = title && title !== house ? `${title} – ${house}` : house
}

const YEAR_SECONDS = 365 * 24 * 60 * 60

/** Remember a choice in this browser, where the server reads it before it writes a document. */
export function keepChoice(name: string, value: string | null): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  const lasting = value === null ? 0 : YEAR_SECONDS
  document.cookie = `${name}=${value ?? ''}; Path=/; Max-Age=${lasting}; SameSite=Lax${secure}`
}
