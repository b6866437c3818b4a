// `hookgate init`: the guided first run. It asks on a terminal; with --yes it takes flags and defaults. Running it again is harmless.
import { relative } from 'node:path'
import { action, JSON_FLAG, PLACE } from '../action.ts'
import { withControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { list } from '../flag-values.ts'
import { milliseconds } from '../output/figures.ts'
import { printable, printJson, say, styled } from '../output/table.ts'
import { mayAsk } from '../terminal.ts'
import { existingConfig } from './existing-config.ts'
import type { FirstRequest } from './first-request.ts'
import { type Kept, keep } from './keep-step.ts'
import { type ClientKey, clientKey, keyWords } from './key-step.ts'
import { type Connected, connect } from './provider-step.ts'
import { choose } from './questions.ts'
import { request, requestWords } from './request-step.ts'

const STEPS = ['provider', 'test', 'key', 'request', 'keep'] as const

export const init = action({
  name: 'init',
  description:
    'Guide the first run: a provider and its key, tested; a client key; a first request; where to keep the connection.',
  args: {
    yes: { type: 'boolean', description: 'Ask nothing: take the flags and the defaults' },
    provider: { type: 'string', description: 'echo, openai, ollama … or skip; default with --yes: echo', valueHint: 'id' },
    'key-env': { type: 'string', description: 'Variable that has the key of the provider', valueHint: 'name' },
    'api-key': { type: 'string', description: 'The key itself; `-` reads standard input', valueHint: 'key' },
    label: { type: 'string', description: 'Name of the connection; default: main', valueHint: 'text' },
    'base-url': { type: 'string', description: 'For a provider that is not in the registry', valueHint: 'url' },
    'wire-format': {
      type: 'string',
      description: 'With --base-url: chat, messages, responses or generate_content',
      valueHint: 'format',
    },
    model: { type: 'string', description: 'Model of the test and of the first request', valueHint: 'model' },
    keep: { type: 'string', description: 'file (the default) or database', valueHint: 'where' },
    'client-key': { type: 'string', description: 'Label of the client key; default: me', valueHint: 'label' },
    skip: { type: 'string', description: `Steps to leave out, between commas: ${STEPS.join(', ')}`, valueHint: 'steps' },
    ...JSON_FLAG,
    ...PLACE,
  },
  async run(given) {
    const skips = new Set(list(given.skip) ?? [])
    const wrong = [...skips].find((step) => !(STEPS as readonly string[]).includes(step))
    if (wrong !== undefined) failUsage(`\`--skip\`: there is no step \`${wrong.slice(0, 60)}\`. There are ${STEPS.join(', ')}.`)
    if (given.keep !== undefined && given.keep !== 'file' && given.keep !== 'database')
      failUsage(`\`--keep\`: \`${given.keep.slice(0, 60)}\` is neither \`file\` nor \`database\`.`)
    const asks = given.yes !== true
    if (asks && !(mayAsk() && process.stdout.isTTY === true))
      failUsage('`init` asks questions and there is no terminal to ask on. For scripts: `hookgate init --yes --provider echo`.')

    // Before the first question: a file that does not load is no place to begin.
    const file = await existingConfig(given)
    const connected = skips.has('provider') ? null : await connect(given, asks, skips.has('test'))
    told(1, 'provider', connected === null ? 'skipped' : `${connected.draft.provider}/${connected.draft.label}`)
    told(2, 'test', testWords(connected))
    const done: Done = { key: null, sent: null, kept: null }
    const report = (): void => {
      if (given.json) printJson(reportOf(connected, done))
    }
    try {
      await withControlPlane(
        given,
        async (plane) => {
          done.key = skips.has('key') ? null : await clientKey(plane, given['client-key'], asks)
          told(3, 'key', keyWords(done.key))
          // Shown now: Ctrl-C at a later question must not lose it.
          if (done.key?.key !== undefined && !given.json) console.log(done.key.key)
          done.sent = skips.has('request') ? null : await request(plane, connected, done.key, given.model)
          told(4, 'request', done.sent === null ? 'skipped' : requestWords(done.sent))
        },
        { PRICING_SYNC_ENABLED: 'false', HEALTH_CHECK_INTERVAL_SECS: '0' },
      )
      if (connected !== null && !skips.has('keep')) done.kept = await keptWhere(given, connected, asks, file.path)
    } catch (error) {
      // The secret of a new key is shown only once.
      if (done.key?.key !== undefined) report()
      throw error
    }
    told(5, 'keep', done.kept?.words ?? 'skipped')
    const code = done.sent !== null && done.sent.status >= 400 ? 1 : 0
    report()
    if (given.json) return code
    say.info('Next: `hookgate serve`, then open http://127.0.0.1:8788 in a browser.')
    return code
  },
})

interface Done {
  key: ClientKey | null
  sent: FirstRequest | null
  kept: Kept | null
}

function reportOf(connected: Connected | null, { key, sent, kept }: Done) {
  const { provider, label } = connected?.draft ?? { provider: null, label: null }
  return { provider, label, test: connected?.test ?? null, kept: kept?.where ?? null, key, request: sent }
}

function told(number: number, step: string, words: string): void {
  say.log(`  ${styled(String(number), 'dim')} ${step.padEnd(9)} ${printable(words)}`)
}

function testWords(connected: Connected | null): string {
  const test = connected?.test ?? null
  if (test === null) return 'skipped'
  if (!test.ok) return `failed: ${test.error?.kind ?? 'no answer'}`
  return `${test.model ?? 'it'} answered in ${milliseconds(test.latency_ms)} · ${test.models} ${test.models === 1 ? 'model' : 'models'}`
}

async function keptWhere(
  given: { keep?: string; config?: string; 'data-dir'?: string },
  connected: Connected,
  asks: boolean,
  file: string | null,
): Promise<Kept | null> {
  const asked = given.keep as 'file' | 'database' | undefined
  const where =
    asked ??
    (asks
      ? await choose('Where to keep the connection?', [
          ...(file === null ? [{ value: 'file' as const, label: 'gateway.config.ts', hint: 'the key stays in a variable' }] : []),
          { value: 'database' as const, label: 'the database', hint: databaseHint(file) },
          { value: 'skip' as const, label: 'Skip this step' },
        ])
      : 'file')
  return where === 'skip' ? null : keep({ config: given.config, 'data-dir': given['data-dir'] }, connected, where)
}

function databaseHint(file: string | null): string {
  return file === null ? 'the key is sealed' : `the key is sealed; ${relative(process.cwd(), file)} exists and is not changed`
}
