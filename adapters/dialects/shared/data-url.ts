// Parses and writes data: URLs.

export interface DataUrl {
  mime: string
  /** Base64, without white space. */
  data: string
}

/** Returns null when the text is not a data: URL. Percent-encoded data becomes base64. */
export function parseDataUrl(url: string): DataUrl | null {
  if (!url.startsWith('data:')) return null
  const comma = url.indexOf(',')
  if (comma === -1) return null
  const [mime = '', ...flags] = url.slice(5, comma).split(';')
  const data = url.slice(comma + 1)
  if (flags.includes('base64')) return { mime: mime || 'text/plain', data }
  try {
    const bytes = new TextEncoder().encode(decodeURIComponent(data))
    return { mime: mime || 'text/plain', data: btoa(String.fromCharCode(...bytes)) }
  } catch {
    return null
  }
}

export function dataUrl(mime: string, data: string): string {
  return `data:${mime};base64,${data}`
}
