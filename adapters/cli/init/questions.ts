// Asks questions on a terminal. Ctrl-C and Ctrl-D end the command with 130.
import { Interrupted } from '../fail.ts'
import { CTRL_D } from '../flag-values.ts'
import { say } from '../output/table.ts'

export interface Choice<T extends string> {
  readonly value: T
  readonly label: string
  readonly hint?: string
}

type Options = Parameters<typeof say.prompt>[1]

/** Returns the chosen value. */
export async function choose<T extends string>(question: string, choices: readonly Choice<T>[]): Promise<T> {
  // With plain options the prompt resolves to the value itself.
  return (await answerOf(question, { type: 'select', options: [...choices], cancel: 'null' })) as T
}

/** Returns the text, or the default for an empty answer. */
export async function text(question: string, standard: string): Promise<string> {
  const options = { type: 'text', default: standard, placeholder: standard, cancel: 'null' } as const
  return String(await answerOf(question, options)).trim() || standard
}

export async function confirmed(question: string): Promise<boolean> {
  return (await answerOf(question, { type: 'confirm', cancel: 'null' })) === true
}

const SHOW_CURSOR = '\u001b[?25h'

/** @throws Interrupted */
async function answerOf(question: string, options: Options): Promise<unknown> {
  const { stdin } = process
  let end = (): void => {}
  const ended = new Promise<null>((resolve) => {
    end = () => resolve(null)
  })
  const typed = (chunk: unknown): void => {
    if (String(chunk) === CTRL_D) end()
  }
  // The prompt itself waits for ever when its input ends.
  stdin.on('data', typed).once('end', end)
  try {
    const answer = await Promise.race([say.prompt(question, options), ended])
    if (answer !== null) return answer
    stdin.setRawMode(false)
    process.stderr.write(`${SHOW_CURSOR}\n`)
    throw new Interrupted()
  } finally {
    stdin.off('data', typed).off('end', end)
  }
}
