// Runs a script against a configuration; the command line and the control plane share it, so that their output is the same.
import type { GatewayConfig } from '../../core/config/define.ts'
import type { Logger } from '../../core/types/ports/ports.ts'
import { behaviourOf, refuseUnknownUpstreams } from './behaviour.ts'
import { simulate } from './engine.ts'
import { type RequestLine, requestLine, type SummaryLine, summaryLine } from './lines.ts'
import type { Script } from './script.ts'

export interface ScriptRun {
  readonly lines: readonly RequestLine[]
  readonly summary: SummaryLine
}

/** @throws Error naming the fault in the script or the configuration. */
export async function runScript(
  { requests, answers }: Script,
  config: GatewayConfig,
  { env, log }: { env: Readonly<Record<string, string | undefined>>; log?: Logger },
): Promise<ScriptRun> {
  const simulation = await simulate({
    config,
    requests,
    env,
    ...(log === undefined ? {} : { log }),
    answer: behaviourOf(answers),
    check: (accounts) => refuseUnknownUpstreams(answers, accounts),
  })
  return { lines: simulation.requests.map(requestLine), summary: summaryLine(simulation) }
}

/** JSON lines, without a line end after the last. */
export function jsonText({ lines, summary }: ScriptRun): string {
  return [...lines, { summary }].map((line) => JSON.stringify(line)).join('\n')
}
