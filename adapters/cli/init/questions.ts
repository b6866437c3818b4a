// Asks the questions of `hookgate init` on a terminal. Ctrl-C ends the command with 130.
import { say } from '../output/table.ts'

export interface Choice<T extends string> {
  readonly value: T
  readonly label: string
  readonly hint?: string
}

/** Returns the chosen value. */
export async function choose<T extends string>(question: string, choices: readonly Choice<T>[]): Promise<T> {
  const answer = await say.prompt(question, { type: 'select', options: [...choices], cancel: 'null' })
  // With plain options the prompt resolves to the value itself.
  return (answer ?? interrupted()) as unknown as T
}

/** Returns the text, or the default for an empty answer. */
export async function text(question: string, standard: string): Promise<string> {
  const answer = await say.prompt(question, { type: 'text', default: standard, placeholder: standard, cancel: 'null' })
  return (answer ?? interrupted()).trim() || standard
}

function interrupted(): never {
  process.exit(130)
}
