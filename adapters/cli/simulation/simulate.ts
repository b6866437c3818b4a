// `hookgate simulate`: runs a configuration against a script of requests and failures, on its own clock. It stores and sends no data.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readEnv } from '../../../core/config/env.ts'
import { FILE_VARIABLES } from '../../../core/config/variables.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import type { Script } from '../../simulation/script.ts'
import { action, PLACE } from '../action.ts'
import { failUsage } from '../fail.ts'
import { count, list } from '../flag-values.ts'
import { say } from '../output/table.ts'
import { isWide } from '../terminal.ts'

export const simulateCommand = action({
  name: 'simulate',
  description: 'Replay a script of requests and upstream answers against the configuration; print how each was routed.',
  args: {
    script: { type: 'positional', description: 'File of JSON lines: requests, and what upstreams answer' },
    assume: {
      type: 'string',
      description: 'Accounts to take as up or down throughout: openai/main=down,groq=up',
      valueHint: 'account=state',
    },
    explain: { type: 'string', description: 'Number of a request, from 1: show each of its calls', valueHint: 'number' },
    config: PLACE.config,
    json: { type: 'boolean', description: 'A line of JSON for each request, then one for the summary' },
  },
  async run(given) {
    const [{ parseScript }, { runScript }, tables, { firstDifference }, shares] = await Promise.all([
      import('../../simulation/script.ts'),
      import('../../simulation/run-script.ts'),
      import('./simulation-table.ts'),
      import('./compare.ts'),
      import('./shares.ts'),
    ])
    const script = parseScript(textOf(given.script as string))
    const number = count('explain', given.explain)
    if (number !== undefined && (number < 1 || number > script.requests.length))
      failUsage(`\`--explain\`: there are requests 1 to ${script.requests.length}.`)
    const options = { env: process.env, log: warnings }
    const config = await configuration(given.config)
    const ran = await runScript(assumed(script, given.assume), config, options).catch(inWordsOfAssume)
    const other = await savedConfiguration(given.config)
    const compares = given.assume !== undefined || other !== null
    const saved = compares ? (await runScript(script, other ?? config, { env: process.env })).lines : null
    const difference = saved === null ? null : firstDifference(saved, ran.lines)
    if (given.json) {
      const compared = saved === null ? {} : { first_difference: difference }
      for (const line of [...ran.lines, { summary: ran.summary, ...compared }]) console.log(JSON.stringify(line))
      return
    }
    if (number !== undefined) {
      console.log(shares.explanation(number, ran.lines[number - 1] as (typeof ran.lines)[number], saved?.[number - 1]))
      return
    }
    const shown = isWide() ? ran.lines : ran.lines.slice(0, MOST_LINES)
    console.log(`${tables.requestTable(shown)}\n\n${shares.sharesText(ran.lines)}\n\n${tables.summaryText(ran.summary)}`)
    if (shown.length < ran.lines.length)
      say.info(`${ran.lines.length - shown.length} more requests: --wide shows them, --json too.`)
    if (saved !== null) console.log(`\n${shares.comparisonText(saved, ran.lines, difference, false)}`)
  },
})

const MOST_LINES = 50

/** Replaces what the script says of the assumed accounts: `down` refuses every connection. @throws WrongUsage */
function assumed(script: Script, text: string | undefined): Script {
  const pairs = (list(text) ?? []).map((pair) => {
    const [, upstream, state] = /^(.+)=(up|down)$/.exec(pair) ?? []
    return upstream === undefined
      ? failUsage(`\`--assume\`: \`${pair.slice(0, 60)}\` is not like openai/main=down.`)
      : { upstream, down: state === 'down' }
  })
  const isAssumed = ({ upstream }: { upstream: string }): boolean =>
    pairs.some((pair) => upstream === pair.upstream || upstream.startsWith(`${pair.upstream}/`))
  const made = pairs.map(({ upstream, down }) => ({
    at: 0,
    upstream,
    line: ASSUMED,
    answer: { status: down ? 0 : 200, latencyMs: down ? 1 : 100, retryAfterSecs: null, text: null },
  }))
  const others = script.answers.filter((answer) => !isAssumed(answer))
  // The last line that names an account applies: after each line about its provider the assumption is said again.
  const lasting = made.flatMap((one) => [
    one,
    ...others.filter(({ upstream }) => one.upstream.startsWith(`${upstream}/`)).map(({ at }) => ({ ...one, at })),
  ])
  return { ...script, answers: [...others, ...lasting].sort((a, b) => a.at - b.at) }
}

/** Line number of an assumption. */
const ASSUMED = 0

function inWordsOfAssume(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  if (!message.startsWith(`Line ${ASSUMED} of the script: `)) throw error
  return failUsage(message.replace(`Line ${ASSUMED} of the script`, '`--assume`'))
}

/** Returns the configuration of the usual place when `--config` names another file; otherwise null. */
async function savedConfiguration(asked: string | undefined) {
  if (asked === undefined) return null
  const [{ findConfig }, { loadConfig }] = await Promise.all([
    import('../../node/loading/find-config.ts'),
    import('../../node/loading/load-config.ts'),
  ])
  const path = findConfig(null, process.cwd())
  return path === null || path === resolve(asked) ? null : loadConfig(path)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`The script ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Without a file all defaults apply, and `echo` is the only connection. */
async function configuration(asked: string | undefined) {
  const [{ findConfig }, { loadConfig }] = await Promise.all([
    import('../../node/loading/find-config.ts'),
    import('../../node/loading/load-config.ts'),
  ])
  const flags = asked === undefined ? {} : { CONFIG: asked }
  const path = findConfig(
    readEnv({ environment: process.env, flags, variables: FILE_VARIABLES }).get<string | null>('CONFIG'),
    process.cwd(),
  )
  return path === null ? {} : loadConfig(path)
}

/** The report shows failed requests; ignored parts of the configuration are logged. */
const warnings: Logger = {
  debug() {},
  info() {},
  warn: (message, fields) => message === 'config.ignored' && say.warn(`${message} ${JSON.stringify(fields ?? {})}`),
  error: (message, fields) => say.error(`${message} ${JSON.stringify(fields ?? {})}`),
}
