// `hookgate filter test <file.wasm>`: runs a WASM filter on recorded requests, as a gateway would run it.
import { readFileSync } from 'node:fs'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { action, JSON_FLAG } from '../action.ts'
import { failUsage } from '../fail.ts'
import { count, list } from '../flag-values.ts'
import { cell, printable, printJson, say, table } from '../output/table.ts'

const RUNS = 20

export const test = action({
  name: 'test',
  description: 'Run a WASM filter on recorded requests; print what it did and how long it took. 1 when a call failed.',
  args: {
    file: { type: 'positional', required: true, description: 'The filter, a *.wasm' },
    requests: { type: 'string', description: 'JSON lines: canonical requests; default: those of hookgate', valueHint: 'file' },
    config: { type: 'string', description: 'Configuration of the filter: a=1,b=2', valueHint: 'k=v' },
    runs: { type: 'string', description: `Number of runs for each; default: ${RUNS}`, valueHint: 'n' },
    'limit-ms': { type: 'string', description: 'For every call, instead of the limits of a gateway', valueHint: 'ms' },
    ...JSON_FLAG,
  },
  async run(given) {
    const runs = between('runs', given.runs, 10_000) ?? RUNS
    const limit = between('limit-ms', given['limit-ms'], 60_000)
    const config = pairs(given.config)
    const [{ readRecordings, shippedRecordings }, { tryFilter }, { TIMEOUTS }] = await Promise.all([
      import('./recording.ts'),
      import('./trial.ts'),
      import('../../../plugins/wasm-filters/limits.ts'),
    ])
    const own = limit === undefined ? {} : { init: Math.max(limit, TIMEOUTS.init), request: limit, response: limit, chunk: limit }
    // Calls run one at a time; a call may wait for a thread to restart.
    const queue = 60_000
    const { filter, version, rows } = await tryFilter({
      file: given.file as string,
      config,
      runs,
      log: guestLines,
      recordings: given.requests === undefined ? shippedRecordings() : readRecordings(textOf(given.requests)),
      timeouts: { ...TIMEOUTS, queue, ...own },
    })
    if (given.json) printJson({ filter, version, rows })
    else console.log(reportOf(rows))
    const failed = rows.flatMap(({ failures }) => failures)
    if (!given.json) say.info(`${filter} ${version}: ${rows.length} recordings and hooks, ${failed.length} failed.`)
    return failed.length > 0 ? 1 : 0
  },
})

type Row = Awaited<ReturnType<typeof import('./trial.ts')['tryFilter']>>['rows'][number]

function reportOf(rows: readonly Row[]): string {
  const head = ['HOOK', 'REQUEST', 'ACTION', 'CALLS', 'P50 MS', 'P95 MS', 'WHAT']
  const cells = rows.map(({ hook, recording, action, calls, p50_ms, p95_ms, changes, failures }) => [
    ...[hook, cell(recording), action, String(calls), figure(p50_ms), figure(p95_ms)],
    cell(failures[0] === undefined ? changes : `${failures[0].reason}: ${failures[0].message}`),
  ])
  return table(head, cells, { deny: 'yellow', replace: 'cyan', respond: 'cyan', failed: 'red' }, ['CALLS', 'P50 MS', 'P95 MS'])
}

function figure(ms: number | null): string {
  return ms === null ? '-' : ms.toFixed(3)
}

function between(flag: string, text: string | undefined, most: number): number | undefined {
  const value = count(flag, text)
  if (value !== undefined && (value < 1 || value > most)) failUsage(`\`--${flag}\` must be between 1 and ${most}.`)
  return value
}

function pairs(text: string | undefined): Record<string, string> {
  const entries = (list(text) ?? []).map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) failUsage(`\`--config\`: \`${pair.slice(0, 60)}\` is not of the form name=value.`)
    return [pair.slice(0, at), pair.slice(at + 1)] as const
  })
  return Object.fromEntries(entries)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`The file of requests ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Prints log lines of the filter itself. */
const line = (_message: string, fields?: object) => say.log(printable((fields as { text?: string } | undefined)?.text ?? ''))
const guestLines: Logger = { debug: line, info: line, warn: line, error: line }
