// The request inspector of `hookgate dev`: a line for each request with the time of its plugins, and with `verbose` the hooks that ran.
import { definePlugin } from '../../../core/plugins/define.ts'
import { answererOf, spentNano, usedTokens } from '../../../core/records/request-record.ts'
import type { HookRun, HookTracer } from '../../../core/types/plugin/hook-tracer.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import type { Outcome, RequestContext } from '../../../core/types/request/context.ts'
import { count, localTime, milliseconds, usd } from '../output/figures.ts'
import { cell, printable, styled } from '../output/table.ts'
import { changesOf, snapshot } from './changes.ts'

export interface Inspector {
  /** Prints each request when it is settled. */
  readonly plugin: Plugin
  readonly tracer: HookTracer
}

const NAME = 'dev-inspector'

/** Their time contains the upstream's. */
const AROUND: ReadonlySet<string> = new Set(['call', 'attempt'])
const SHOWN_PLUGINS = 4
/** Shorter times are noise, ms. */
const SHOWN_MS = 0.05

interface Seen {
  readonly run: HookRun
  readonly changes: readonly string[]
}

export function inspector({ verbose, print }: { verbose: boolean; print: (line: string) => void }): Inspector {
  const runs = new WeakMap<RequestContext, Seen[]>()
  const tracer: HookTracer = {
    plugin: NAME,
    wants: () => true,
    ...(verbose ? { begins: snapshot } : {}),
    ran(ctx, run) {
      const root = rootOf(ctx)
      const changes = verbose ? changesOf(run, snapshot(ctx, run.hook, run.args)) : []
      const list = runs.get(root)
      if (list === undefined) runs.set(root, [{ run, changes }])
      else list.push({ run, changes })
    },
  }
  const plugin = definePlugin({
    name: NAME,
    setup(gateway) {
      gateway.hook(
        'settled',
        (ctx, outcome) => {
          if (ctx.parent !== null) return
          const seen = runs.get(ctx) ?? []
          print(requestLine(ctx, outcome, verbose ? [] : seen))
          for (const one of verbose ? seen : []) print(runLine(one))
        },
        { order: 'post', onError: 'open' },
      )
    },
  })
  return { plugin: plugin(), tracer }
}

/** An internal call belongs to the request that made it. */
function rootOf(ctx: RequestContext): RequestContext {
  return ctx.parent === null ? ctx : rootOf(ctx.parent)
}

function requestLine(ctx: RequestContext, outcome: Outcome, seen: readonly Seen[]): string {
  const { status, latencyMs, firstByteMs, error } = outcome
  const answerer = answererOf(ctx, outcome)
  const { input, output } = usedTokens(outcome)
  const { costNano } = spentNano(outcome)
  const model = ctx.requestedModel === '' ? ctx.operation : ctx.requestedModel
  const asked = ctx.ingress === null ? ctx.source : `${ctx.ingress.method} ${ctx.ingress.path}`
  const served = answerer === null ? '' : ` → ${answerer.provider}/${answerer.model}`
  return [
    styled(localTime(new Date(ctx.startedAt).toISOString()).slice(11), 'dim'),
    styled(String(status), status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green'),
    printable(asked),
    `${cell(model)}${printable(served)}`,
    `${milliseconds(Math.round(latencyMs))}${ctx.stream && firstByteMs !== null ? ` (first ${milliseconds(Math.round(firstByteMs))})` : ''}`,
    ...(input + output > 0 ? [`${count(input)}+${count(output)} tokens`] : []),
    ...(costNano === null || costNano === 0 ? [] : [usd(costNano / 1e9)]),
    ...(outcome.cached === false ? [] : [`cached: ${outcome.cached}`]),
    ...(error === undefined ? [] : [printable(`${error.code ?? error.type}: ${error.message}`)]),
    ...(seen.length === 0 ? [] : [styled(timings(seen), 'dim')]),
  ].join('  ')
}

/** Returns the plugins that took longest, and the number of the others. */
function timings(seen: readonly Seen[]): string {
  const times = new Map<string, number>()
  for (const { run } of seen) if (!AROUND.has(run.hook)) times.set(run.plugin, (times.get(run.plugin) ?? 0) + run.ms)
  const sorted = [...times].sort(([, one], [, other]) => other - one)
  const shown = sorted.filter(([, ms]) => ms >= SHOWN_MS).slice(0, SHOWN_PLUGINS)
  const others = sorted.length - shown.length
  return [...shown.map(([name, ms]) => `${name} ${duration(ms)}`), ...(others > 0 ? [`${others} plugins below`] : [])].join(', ')
}

function runLine({ run, changes }: Seen): string {
  const failed = run.error === undefined ? [] : [styled(printable(`refused: ${wordsOf(run.error)}`), 'yellow')]
  const head = `         ${run.hook.padEnd(12)}  ${run.plugin.padEnd(20)}  ${duration(run.ms).padStart(8)}`
  return `${styled(head, 'dim')}  ${[...failed, ...changes.map(printable)].join('; ')}`.trimEnd()
}

function duration(ms: number): string {
  return ms >= 100 ? `${Math.round(ms)} ms` : `${ms.toFixed(2)} ms`
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
