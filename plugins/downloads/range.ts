// Reads the Range header of a download (RFC 9110, section 14).

export interface Span {
  readonly start: number
  /** The last byte. */
  readonly end: number
}

/**
 * Returns the requested part; null: the whole file. Several ranges, other units and malformed headers count as no range.
 * `unsatisfiable`: no byte of the file is in it.
 */
export function spanOf(header: string | null, size: number): Span | null | 'unsatisfiable' {
  const found = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '')
  if (found === null) return null
  const [, first = '', last = ''] = found
  if (first === '') {
    const count = Number(last)
    if (last === '') return null
    return count === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - count), end: size - 1 }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return null
  return start >= size ? 'unsatisfiable' : { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}
