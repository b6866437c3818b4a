// Runs the built command line on a pseudo-terminal, through `script`, and types answers.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { hookgateRoot } from './hookgate.ts'

export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'
export const DOWN = '\u001b[B'
export const UP = '\u001b[A'

/** A question, and what is typed when it stands there. Each is used once, in turn. */
export type Answer = readonly [question: RegExp, keys: string]

export interface Session {
  readonly code: number | null
  /** All output, without control sequences. */
  readonly shown: string
  /** Questions that did not come. */
  readonly unasked: readonly RegExp[]
}

/** Returns null on a machine without `script`. */
export function onTerminal(
  args: string,
  answers: readonly Answer[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<Session | null> {
  const command = `${process.execPath} ${hookgateRoot}/dist/adapters/cli/main.js ${args}`
  const left = [...answers]
  return new Promise((resolve) => {
    let shown = ''
    let fresh = ''
    const variables = { ...process.env, NO_COLOR: '1', GATEWAY_DATA_DIR: join(cwd, 'data'), OPENAI_API_KEY: '', ...env }
    const child = execFile('script', ['-qec', `stty cols 120 rows 40; ${command}`, '/dev/null'], { cwd, env: variables })
    child.on('error', () => resolve(null))
    child.stdout?.on('data', (chunk) => {
      shown += chunk
      fresh += chunk
      const [question, keys] = left[0] ?? []
      if (question?.test(stripVTControlCharacters(fresh)) !== true) return
      left.shift()
      fresh = ''
      child.stdin?.write(keys ?? '')
    })
    child.on('close', (code) => resolve({ code, shown: stripVTControlCharacters(shown), unasked: left.map(([one]) => one) }))
  })
}
