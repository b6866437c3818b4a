// The first two steps of `hookgate init`: which provider, and its key. The connection is tried before anything is stored.
import { CommandFailure, failUsage } from '../fail.ts'
import { askSecret, secret } from '../flag-values.ts'
import { printable, say } from '../output/table.ts'
import { localServers } from './local-servers.ts'
import { choose, text } from './questions.ts'
import { type Draft, type Tried, tried, type Vendor, vendors } from './trial.ts'

export interface ProviderFlags {
  readonly provider?: string | undefined
  readonly label?: string | undefined
  readonly 'base-url'?: string | undefined
  readonly 'wire-format'?: string | undefined
  readonly 'key-env'?: string | undefined
  readonly 'api-key'?: string | undefined
  readonly model?: string | undefined
}

export interface Connected {
  readonly draft: Draft
  /** The variable that names the key in the file; null for a connection without a key. */
  readonly variable: string | null
  /** True: the environment has the variable already. */
  readonly isSet: boolean
  /** null: the step was skipped. */
  readonly test: Tried | null
}

/** Ids that the list of hosted vendors begins with. */
const FIRST = ['openai', 'anthropic', 'google', 'openrouter', 'groq', 'mistral']

/** Returns null when the step is skipped. @throws CommandFailure when the provider refuses and there is no terminal to ask on. */
export async function connect(flags: ProviderFlags, asks: boolean, skipsTest: boolean): Promise<Connected | null> {
  const all = await vendors()
  for (;;) {
    const asked = flags.provider ?? (asks ? await chosenVendor(all) : 'echo')
    if (asked === 'skip') return null
    const vendor = all.find(({ id, aliases }) => id === asked || aliases.includes(asked))
    const key = await keyOf(asked, vendor, flags, asks)
    if (key === 'skip') return null
    const draft: Draft = {
      provider: vendor?.id ?? asked,
      label: flags.label ?? 'main',
      ...(key.value === null ? {} : { apiKey: key.value }),
      ...(flags['base-url'] === undefined ? {} : { baseUrl: flags['base-url'] }),
      ...(flags['wire-format'] === undefined ? {} : { wireFormat: flags['wire-format'] }),
    }
    const made = { draft, variable: key.variable, isSet: key.isSet }
    if (skipsTest) return { ...made, test: null }
    const test = await tried(draft, flags.model)
    if (test.ok) return { ...made, test }
    const { message = 'It did not answer.', hint = '' } = test.error ?? {}
    if (!asks)
      throw new CommandFailure({
        what: `The test of ${draft.provider} failed, so nothing was stored.`,
        why: `${message} ${hint}`.trim(),
        fix: `hookgate init --yes --provider ${draft.provider} --key-env <variable with a valid key>`,
      })
    say.error(`${printable(message)} ${printable(hint)}`)
    const next = await choose('What now?', [
      { value: 'again', label: 'Try again' },
      { value: 'keep', label: 'Keep the connection without a test' },
      { value: 'skip', label: 'Skip this step' },
    ])
    if (next === 'skip') return null
    if (next === 'keep') return { ...made, test }
  }
}

async function chosenVendor(all: readonly Vendor[]): Promise<string> {
  const local = await localServers(all)
  const hosted = FIRST.flatMap((id) => all.filter((vendor) => vendor.id === id))
  const answer = await choose('Which provider?', [
    ...local.map(({ vendor, models }) => ({ value: vendor.id, label: vendor.name, hint: `runs here, ${models} models` })),
    ...hosted.map(({ id, name }) => ({ value: id, label: name })),
    { value: 'other', label: 'Another one', hint: 'by its id' },
    { value: 'echo', label: 'echo', hint: 'answers by itself, without an account' },
    { value: 'skip', label: 'Skip this step' },
  ])
  if (answer !== 'other') return answer
  for (;;) {
    const id = await text('Id of the provider:', 'openai')
    if (all.some((vendor) => vendor.id === id || vendor.aliases.includes(id))) return id
    say.warn(`There is no provider ${printable(id)}. There are ${all.map((vendor) => vendor.id).join(', ')}.`)
  }
}

interface GivenKey {
  readonly value: string | null
  readonly variable: string | null
  readonly isSet: boolean
}

async function keyOf(asked: string, vendor: Vendor | undefined, flags: ProviderFlags, asks: boolean): Promise<GivenKey | 'skip'> {
  const usual = vendor?.key_variable ?? `${asked.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`
  const named = flags['key-env']
  if (named !== undefined) {
    if (!/^[A-Za-z_]\w*$/.test(named)) failUsage(`\`--key-env\`: \`${named.slice(0, 60)}\` is not the name of a variable.`)
    const value = process.env[named]?.trim()
    return { value: value || failUsage(`\`--key-env\`: the variable \`${named}\` is not set.`), variable: named, isSet: true }
  }
  if (flags['api-key'] !== undefined)
    return { value: await secret('api-key', flags['api-key']), variable: usual, isSet: process.env[usual] !== undefined }
  if (vendor?.needs_key !== true) return { value: null, variable: null, isSet: false }
  const present = process.env[usual]?.trim()
  if (present && !asks) return { value: present, variable: usual, isSet: true }
  if (!asks)
    return failUsage(
      `${vendor.name} needs a key. Set \`${usual}\`, or say \`--key-env <variable>\` or \`--api-key -\` for standard input.`,
    )
  const page = vendor.docs_url === null ? '' : ` (${vendor.docs_url})`
  const way = await choose(`The key of ${vendor.name}${page}`, [
    ...(present ? [{ value: 'environment' as const, label: `Take ${usual} from the environment` }] : []),
    { value: 'paste' as const, label: 'Paste it', hint: 'it is not shown' },
    { value: 'skip' as const, label: 'Skip this step' },
  ])
  if (way === 'skip') return 'skip'
  if (way === 'environment') return { value: present ?? null, variable: usual, isSet: true }
  const value = await pasted()
  if (value === present) return { value, variable: usual, isSet: true }
  // The variable that is set may be the key of another program.
  return { value, variable: freeVariable(usual), isSet: false }
}

async function pasted(): Promise<string> {
  for (;;) {
    const key = await askSecret('Key: ')
    if (key !== '') return key
    say.warn('The key is empty. Paste it, or press Ctrl-C to end this.')
  }
}

function freeVariable(usual: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? usual : `${usual}_${number}`
    if ((process.env[name] ?? '') === '') return name
  }
}
