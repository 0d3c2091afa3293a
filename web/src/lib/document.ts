/** The document around the pages: its public address, title, cookies and the clipboard. */

const YEAR_SECONDS = 365 * 24 * 60 * 60

/** A path of this server as others reach it: under the public URL, which the document's `og:url` carries. */
export function publicUrl(path: string): string {
  const given = document.querySelector<HTMLMetaElement>('meta[property="og:url"]')?.content
  return new URL(path, given || location.origin).href
}

/** Set the window's title to the page's own, followed by the site's. */
export function setTitle(title: string, site: string): void {
  document.title = title && title !== site ? `${title} – ${site}` : site
}

/** Remember a choice in a cookie for a year, which the server reads when it writes a document; null removes it. */
export function rememberChoice(name: string, value: string | null): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  const maxAge = value === null ? 0 : YEAR_SECONDS
  document.cookie = `${name}=${value ?? ''}; Path=/; Max-Age=${maxAge}; SameSite=Lax${secure}`
}

/** Copy a text to the clipboard; false when the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // The clipboard API is missing on pages without TLS.
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'visually-hidden'
  // Elements outside of a modal dialog are inert and cannot be selected.
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return copied
}
