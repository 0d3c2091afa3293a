/** Short messages at the bottom of the page. They disappear after four seconds and may carry an action, such as undo. */

export interface Toast {
  id: number
  text: string
  action?: { label: string; run: () => void }
}

const MAX_TOASTS = 3
let lastId = 0
const shown = $state<Toast[]>([])

export const toasts: readonly Toast[] = shown

/** Show a message; a fourth one replaces the oldest. */
export function toast(text: string, action?: Toast['action']): void {
  shown.push({ id: ++lastId, text, action })
  if (shown.length > MAX_TOASTS) shown.shift()
}

export function dismiss(id: number): void {
  const at = shown.findIndex((toast) => toast.id === id)
  if (at >= 0) shown.splice(at, 1)
}
