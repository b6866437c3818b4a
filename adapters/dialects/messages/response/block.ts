/** A content block, tool or other wire object; tool arguments in it are RawJson, so it goes through `stringify`. */
export type Block = Record<string, unknown>
