// Parses flag values: counts, lists, and secrets that come from a file, a variable or stdin.
import { failUsage, Interrupted } from './fail.ts'
import { mayAsk } from './terminal.ts'

/** @returns undefined when the flag is absent. The API checks the range. */
export function count(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  return failUsage(`\`--${flag}\`: \`${text.slice(0, 60)}\` is not a whole number.`)
}

/** Parses USD. @returns undefined when the flag is absent. */
export function amount(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\$?\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text.replace('$', ''))
  return failUsage(`\`--${flag}\`: \`${text.slice(0, 60)}\` is not an amount in USD such as 25 or 0.5.`)
}

/** Splits a comma-separated list. */
export function list(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

export function id(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  return failUsage(`<id>: \`${text.slice(0, 60)}\` is not the number in the first column of \`list\`.`)
}

/** `-` is standard input, `env:NAME` a variable, any other text the secret itself. */
export async function secret(flag: string, text: string): Promise<string> {
  if (text === '-') return readSecret(`--${flag}`)
  if (!text.startsWith('env:')) return text
  const name = text.slice(4)
  const value = process.env[name]?.trim()
  return value || failUsage(`\`--${flag}\`: the variable \`${name}\` is not set.`)
}

// Ctrl-C.
const INTERRUPT = '\u0003'
export const CTRL_D = '\u0004'
/** Enter, a pasted line end, Ctrl-D. */
const ENDS = ['\r', '\n', CTRL_D]
const ERASES = ['\u007f', '\b']

/** Reads one answer per question without echo, also when the text was typed early. @throws Interrupted for Ctrl-C, and Ctrl-D without text */
function promptSecrets(questions: readonly string[]): Promise<string[]> {
  const { stdin, stderr } = process
  const answers: string[] = []
  let answer = ''
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdin.resume()
  stderr.write(questions[0] ?? '')
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      stdin.off('data', typed)
      stdin.setRawMode(false)
      stdin.pause()
    }
    const typed = (chunk: string): void => {
      for (const character of chunk) {
        if (character === INTERRUPT || (character === CTRL_D && answer === '')) {
          finish()
          stderr.write('\n')
          reject(new Interrupted())
          return
        }
        if (!ENDS.includes(character)) {
          answer = ERASES.includes(character) ? answer.slice(0, -1) : answer + character
          continue
        }
        answers.push(answer)
        answer = ''
        stderr.write(`\n${questions[answers.length] ?? ''}`)
        if (answers.length === questions.length) {
          finish()
          resolve(answers)
          return
        }
      }
    }
    stdin.on('data', typed)
  })
}

/** Asks on a terminal, without echo. @throws Interrupted */
export async function askSecret(question: string): Promise<string> {
  return ((await promptSecrets([question]))[0] ?? '').trim()
}

/** Reads the first line of standard input; on a terminal it asks without echo. Several questions ask for the same secret. */
export async function readSecret(what: string, questions = [`${what}: `]): Promise<string> {
  if (process.stdin.isTTY && !mayAsk()) failUsage(`${what}: there is nothing to read, and this command may not ask.`)
  const [given = '', ...again] = process.stdin.isTTY ? await promptSecrets(questions) : [await firstLine()]
  if (given === '')
    failUsage(`${what}: standard input is empty. Write it there, or run the command on a terminal, where it asks.`)
  if (again.some((answer) => answer !== given)) failUsage(`${what}: the answers are not the same.`)
  return given
}

async function firstLine(): Promise<string> {
  let text = ''
  process.stdin.setEncoding('utf8')
  for await (const chunk of process.stdin) {
    text += chunk
    if (text.includes('\n') || text.length > 65_536) break
  }
  return (text.split(/\r?\n/, 1)[0] as string).slice(0, 65_536)
}
