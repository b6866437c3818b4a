// A tool-output filter: it recognizes one kind of output by its first lines and shortens it.

/** A tool's output without colours and progress that was overwritten. */
export interface Output {
  readonly lines: readonly string[]
  /** The first lines that are not blank, of the first 1,024 characters. */
  readonly head: readonly string[]
  /** The same of the last 1,024: summaries stand there. */
  readonly tail: readonly string[]
}

export interface Filter {
  readonly id: string
  readonly title: string
  readonly description: string
  /** For people: what it goes by. */
  readonly detects: string
  readonly limits: Readonly<Record<string, number>>
  /** A filter that is recognized by a summary runs before filters with a lower number that would also match. */
  early?(output: Output): boolean
  detect(output: Output): boolean
  /** null: it is not what it looked like. */
  shorten(lines: readonly string[]): readonly string[] | null
}
