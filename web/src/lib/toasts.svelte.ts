/** Short messages at the bottom of the page: they go by themselves after four seconds, and may carry an undo. */

export interface Toast {
  id: number
  text: string
  action?: { label: string; run: () => void }
}

let last = 0
const shown = $state<Toast[]>([])

export const toasts: readonly Toast[] = shown

/** Say something in passing. At most three are shown; the oldest makes way. */
export function toast(text: string, action?: Toast['action']): void {
  shown.push({ id: ++last, text, action })
  if (shown.length > 3) shown.shift()
}

export function dismiss(id: number): void {
  const at = shown.findIndex((one) => one.id === id)
  if (at >= 0) shown.splice(at, 1)
}
