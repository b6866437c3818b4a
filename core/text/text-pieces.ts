// Cuts a long text, because most work on a text of a megabyte costs V8 several times as much as the same work on its pieces.

const PIECE_CHARS = 64 * 1024

/** Yields the pieces. None of them ends within a surrogate pair, so each can be encoded alone. */
export function* textPieces(text: string): Generator<string> {
  if (text.length <= PIECE_CHARS) return yield text
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + PIECE_CHARS, text.length)
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++
    yield text.slice(from, to)
    from = to
  }
}
