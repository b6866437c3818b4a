// The focus inside a dialog.

const FIELD = '.dialog-body :is(input, select, textarea):not(:disabled)'
const CONTROL = '.dialog-body :is(a[href], button):not(:disabled)'

/**
 * Puts the focus on the first field of an open dialog: at once, or when the field arrives; and again when what had the focus is replaced, then
 * on a button or link where there is no field.
 * Returns a function that ends this.
 */
export function keepFirstField(dialog: HTMLElement): () => void {
  // The browser chose the button that closes the dialog again.
  const begun = document.activeElement
  let held = begun
  let waiting = true
  const begin = (): boolean => {
    const field = dialog.querySelector<HTMLElement>(FIELD)
    field?.focus()
    waiting &&= field === null
    return field !== null
  }
  const hold = (): void => {
    held = document.activeElement
  }
  const changes = new MutationObserver(() => {
    const active = document.activeElement
    // A button that is busy is disabled: it has lost the focus, but is not gone.
    const replaced = active === document.body && held?.isConnected === false
    if (!replaced && !(waiting && active === begun)) return
    if (!begin() && replaced) dialog.querySelector<HTMLElement>(CONTROL)?.focus()
  })
  dialog.addEventListener('focusin', hold)
  changes.observe(dialog, { childList: true, subtree: true })
  begin()
  return () => {
    changes.disconnect()
    dialog.removeEventListener('focusin', hold)
  }
}
