// `hookgate simulate`: runs a configuration against a script of requests and failures, on its own clock. It stores and sends no data.
import { readFileSync } from 'node:fs'
import { readEnv } from '../../core/config/env.ts'
import { FILE_VARIABLES } from '../../core/config/variables.ts'
import type { Logger } from '../../core/types/ports.ts'
import { action, PLACE } from './action.ts'
import { say } from './table.ts'

export const simulateCommand = action({
  name: 'simulate',
  description: 'Replay a script of requests and upstream answers against the configuration; print how each was routed.',
  args: {
    script: { type: 'positional', description: 'File of JSON lines: requests, and what upstreams answer' },
    config: PLACE.config,
    json: { type: 'boolean', description: 'A line of JSON for each request, then one for the summary' },
  },
  async run(given) {
    const [{ parseScript }, { runScript, jsonText }, tables] = await Promise.all([
      import('../simulation/script.ts'),
      import('../simulation/run-script.ts'),
      import('./simulation-table.ts'),
    ])
    const script = parseScript(textOf(given.script as string))
    const ran = await runScript(script, await configuration(given.config), { env: process.env, log: warnings })
    if (given.json) console.log(jsonText(ran))
    else console.log(`${tables.requestTable(ran.lines)}\n\n${tables.summaryText(ran.summary)}`)
  },
})

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`The script ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** Without a file all defaults apply, and `echo` is the only connection. */
async function configuration(asked: string | undefined) {
  const { findConfig, loadConfig } = await import('../node/load-config.ts')
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
