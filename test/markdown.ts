// Turns code of README and docs into something that a test can run.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { built, type Finished, hookgateRoot, run } from './adapters/cli/hookgate.ts'

export interface Block {
  readonly file: string
  readonly line: number
  readonly language: string
  readonly code: string
}

export function readDoc(file: string): string {
  return readFileSync(join(hookgateRoot, file), 'utf8')
}

export function blocks(file: string, language: string): Block[] {
  const text = readDoc(file)
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .map((match) => ({
      file,
      line: text.slice(0, match.index).split('\n').length,
      language: match[1] as string,
      code: match[2] as string,
    }))
    .filter((block) => block.language === language)
}

/** The inside of a plugin's `setup` becomes a module. */
export function asModule(code: string): string {
  if (/^import /m.test(code)) return code
  return `import { definePlugin, GatewayError } from 'hookgate'
import type { CanonicalRequest } from 'hookgate/core'
export const fragment = definePlugin({ name: 'fragment', setup(gateway) {
${code}
} })
`
}

/** A folder inside the repository, so that packages and `hookgate` itself resolve. It is removed afterwards, and ignored by git. */
export async function inScratch<T>(files: Record<string, string>, use: (path: string) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(hookgateRoot, 'dist/scratch-'))
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
    return await use(path)
  } finally {
    rmSync(path, { recursive: true })
  }
}

/** Runs a module to its end. */
export function runModule(code: string): Promise<Finished> {
  const jiti = join(hookgateRoot, 'node_modules/jiti/lib/jiti-cli.mjs')
  return inScratch({ 'main.ts': code }, async (path) => {
    await built()
    return run([jiti, join(path, 'main.ts')])
  })
}

/** Returns the request of a `curl` line in the documentation; it supports url, -H, -d and single quotes. */
export function curlRequest(command: string): { url: string; init: RequestInit } {
  const words = [...command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? (match[2] as string))
  if (words.shift() !== 'curl') throw new Error(`Not a curl command: ${command}`)
  const headers: [string, string][] = []
  let [url, body] = ['', undefined as string | undefined]
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-H') {
      const [name, value] = (words.shift() as string).split(': ') as [string, string]
      headers.push([name, value])
    } else if (word === '-d') body = words.shift()
    else if (word.startsWith('http')) url = word
    else if (!/^-[sNi]+$/.test(word)) throw new Error(`The option ${word} is not understood here.`)
  }
  return { url, init: body === undefined ? { headers } : { method: 'POST', headers, body } }
}
