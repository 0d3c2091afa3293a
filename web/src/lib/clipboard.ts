/** Put a text on the clipboard; false when the browser will not. On a plain-http address only the old way is there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'unseen'
  // A modal dialog makes everything outside of it inert, and what is inert cannot be selected.
  const holder = document.querySelector('dialog[open]') ?? document.body
  holder.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return copied
}
