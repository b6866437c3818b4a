// Writes the first gateway.config.ts. A key is never in it: the file names a variable, and `.env` keeps a pasted key.
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Draft } from './trial.ts'

/** @param variable holds the key; null for a connection without one. */
export function configText({ provider, label, baseUrl, wireFormat }: Draft, variable: string | null): string {
  const members = [
    `provider: ${quoted(provider)}`,
    ...(variable === null ? [] : [`apiKey: secret.env(${quoted(variable)})`]),
    ...(baseUrl === undefined ? [] : [`baseUrl: ${quoted(baseUrl)}`]),
    ...(wireFormat === undefined ? [] : [`wireFormat: ${quoted(wireFormat)}`]),
  ]
  return `// The configuration of hookgate. A running gateway reloads it when you save it.
import { ${variable === null ? 'defineConfig' : 'defineConfig, secret'} } from 'hookgate'

export default defineConfig({
  connections: {
    ${/^[a-z_]\w*$/i.test(label) ? label : quoted(label)}: { ${members.join(', ')} },
  },
})
`
}

/** @throws Error when the file exists already. */
export function writeConfig(folder: string, text: string): string {
  const path = join(folder, 'gateway.config.ts')
  writeFileSync(path, text, { flag: 'wx' })
  return path
}

/** Adds the variable to `.env`, which only its owner may read, and keeps `.env` out of git. Returns false when it is there already. */
export function keepInDotEnv(folder: string, name: string, value: string): boolean {
  const path = join(folder, '.env')
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (parseEnv(before)[name] !== undefined) return false
  const gap = before === '' || before.endsWith('\n') ? '' : '\n'
  writeFileSync(path, `${before}${gap}${name}=${quotedForEnv(value)}\n`, { mode: 0o600 })
  chmodSync(path, 0o600)
  if (existsSync(join(folder, '.git'))) ignore(join(folder, '.gitignore'))
  return true
}

function ignore(path: string): void {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (!before.split(/\r?\n/).includes('.env')) appendFileSync(path, `${before === '' || before.endsWith('\n') ? '' : '\n'}.env\n`)
}

function quoted(text: string): string {
  return `'${text
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll(/[\r\n]/g, '')}'`
}

/** @throws Error for a key with both quotation marks, which no vendor issues. */
function quotedForEnv(value: string): string {
  if (/^[\w.+/=-]+$/.test(value)) return value
  const mark = ["'", '"'].find((one) => !value.includes(one))
  if (mark === undefined || /[\r\n]/.test(value))
    throw new Error('The key cannot be written to .env: it has quotation marks or line ends.')
  return mark + value + mark
}
