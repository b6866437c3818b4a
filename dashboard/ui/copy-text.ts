// Puts text on the clipboard. Browsers give `navigator.clipboard` to https and localhost only; a gateway in a private network has neither.

/** @throws Error where the browser forbids it. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  // A dialog makes everything outside of it inert.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  if (!copied) throw new Error('This browser does not allow copying here. Select the text and copy it.')
}
