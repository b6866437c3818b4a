// `hookgate export` and `hookgate import`: move data that was created through the API from one gateway to another.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { cell, printJson, say, table } from '../output/table.ts'

/** Exit code of a dry run with changes; the same as `plan`. */
const CHANGES = 3

interface Exported {
  rows: Record<string, unknown[]>
  secrets: object | null
  skipped: { kind: string; name: string; reason: string }[]
}

interface Step {
  kind: string
  name: string
  action: 'create' | 'update' | 'unchanged' | 'skip'
  changes: string[]
  reason: string | null
}

const PASSPHRASE = {
  'passphrase-file': {
    type: 'string',
    description: 'File with the passphrase of the secrets, at least 12 characters; without it there are no secrets',
    valueHint: 'file',
  },
} as const

export const exportCommand = action({
  name: 'export',
  description:
    'Write connections, virtual models, budgets, webhooks, proxies, prices and settings that were made through the API.',
  args: {
    out: { type: 'string', description: 'File to write; default: standard output', valueHint: 'file' },
    ...PASSPHRASE,
    ...PLANE,
  },
  async run(given) {
    if (given.out !== undefined && existsSync(given.out))
      throw new Error(`${given.out} exists already. Name another file, or remove it.`)
    const passphrase = passphraseIn(given['passphrase-file'])
    const document = await readControlPlane(given, ({ call }) => call<Exported>('POST', '/api/export', { passphrase }))
    if (given.out === undefined) printJson(document)
    else writeFileSync(given.out, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 })
    for (const { kind, name, reason } of document.skipped) say.info(`Left out: ${kind} ${cell(name)}: ${reason}.`)
    const count = Object.values(document.rows).reduce((sum, { length }) => sum + length, 0)
    say.success(
      `${count} rows${document.secrets === null ? ' without secrets' : ' with their secrets, sealed'}. Client keys and tokens are not in it: only their hashes are stored.`,
    )
  },
})

const COLOURS = { create: 'green', update: 'yellow', skip: 'dim' } as const

export const importCommand = action({
  name: 'import',
  description: 'Create and change the rows of an export, all of them or none. With --dry-run exit 3 when there are changes.',
  args: {
    file: { type: 'positional', required: true, description: 'File that `hookgate export` wrote; `-` reads standard input' },
    'dry-run': { type: 'boolean', description: 'Only print what would change, with every check' },
    ...PASSPHRASE,
    ...JSON_FLAG,
    ...PLANE,
  },
  async run(given) {
    const passphrase = passphraseIn(given['passphrase-file'])
    const dryRun = given['dry-run'] === true
    const body = { document: documentIn(given.file), passphrase, dry_run: dryRun }
    const plane = dryRun ? readControlPlane : withControlPlane
    const { data } = await plane(given, ({ call }) => call<{ data: Step[] }>('POST', '/api/import', body))
    const changed = data.filter((step) => step.action === 'create' || step.action === 'update')
    if (given.json) printJson({ data })
    else show(data, changed.length, dryRun)
    return dryRun && changed.length > 0 ? CHANGES : 0
  },
})

function show(steps: readonly Step[], changed: number, dryRun: boolean): void {
  const rows = steps
    .filter((step) => step.action !== 'unchanged')
    .map(({ action, kind, name, changes, reason }) => [action, kind, name, reason ?? changes.join(', ')].map(cell))
  if (rows.length > 0) console.log(table(['ACTION', 'KIND', 'NAME', 'CHANGES'], rows, COLOURS))
  const unchanged = steps.length - rows.length
  say.success(`${changed} rows ${dryRun ? 'would change' : 'changed'}, ${unchanged} were the same.`)
}

/** Returns null without a file. @throws Error when it cannot be read. */
function passphraseIn(path: string | undefined): string | null {
  if (path === undefined) return null
  const passphrase = read(path).replace(/\r?\n$/, '')
  if (passphrase.length < 12) failUsage('`--passphrase-file`: the passphrase must have at least 12 characters.')
  return passphrase
}

function documentIn(path: string): unknown {
  const text = read(path === '-' ? 0 : path)
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${path} is no JSON. Give the file that \`hookgate export\` wrote.`)
  }
}

function read(path: string | 0): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`)
  }
}
