// A typed number on its way to the server, which judges it and names the field.

/** Returns null for an empty text, and the text itself where it is no number: the server then refuses it by name. */
export function numberOf(text: string): number | null {
  if (text.trim() === '') return null
  const value = Number(text)
  return Number.isFinite(value) ? value : (text as unknown as number)
}
