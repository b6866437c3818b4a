// Types of a tool-output filter: it recognizes one kind of output by its first lines and shortens it.

/** A tool's output without colours and overwritten progress. */
export interface Output {
  readonly lines: readonly string[]
  /** The first non-blank lines among the first 1,024 characters. */
  readonly head: readonly string[]
  /** The last non-blank lines among the last 1,024 characters, which often contain a summary. */
  readonly tail: readonly string[]
}

export interface Filter {
  readonly id: string
  readonly title: string
  readonly description: string
  /** For people: how the filter recognizes its output. */
  readonly detects: string
  readonly limits: Readonly<Record<string, number>>
  /** A filter that is recognized by a summary runs before filters with a lower number that would also match. */
  early?(output: Output): boolean
  detect(output: Output): boolean
  /** Returns null when the output is of another kind after all. */
  shorten(lines: readonly string[]): readonly string[] | null
}
