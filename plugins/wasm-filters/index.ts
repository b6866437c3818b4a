// Runs WASM filters: modules of the Extism guest ABI that check and change requests and answers, each in a thread that is terminated when
// it exceeds its time. Without GATEWAY_PLUGIN_PATH the plugin registers no hooks.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { rootOf } from '../../core/records/root-request.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { FailureReason } from './failure.ts'
import type { Filter } from './filter.ts'
import type { FilterFile } from './filter-files.ts'
import type { RequestFilters } from './filtering.ts'
import { TIMEOUTS, type Timeouts } from './limits.ts'

const ms = z.int().min(1).max(60_000)

const config = z.strictObject({
  /** A *.wasm, several separated by the path delimiter, or a folder; unset = no filters. */
  path: z.string().min(1).optional(),
  /** True: a failing filter is skipped; false: the request is refused. */
  failOpen: z.boolean().default(false),
  /** Values for Extism's `config_get`; the same for all guests. */
  config: z.record(z.string().max(256), z.string().max(65_536)).default({}),
  /** ms of the guest's time; `queue`: the longest wait of a call for its turn. */
  timeouts: z
    .strictObject({ init: ms, request: ms, response: ms, chunk: ms, queue: ms })
    .partial()
    .transform((given): Timeouts => ({ ...TIMEOUTS, ...given }))
    .default(TIMEOUTS),
})

export const wasmFilters = definePlugin({
  name: 'wasm-filters',
  config,
  variables: {
    PLUGIN_PATH: { option: 'path', about: 'WASM filters: a file, several files separated by the path delimiter, or a folder.' },
    PLUGIN_FAIL_OPEN: { option: 'failOpen', about: 'Skip a WASM filter that fails. Otherwise the request is refused.' },
  },
  async setup(gateway, { path, failOpen, config, timeouts }) {
    const failures = gateway.metrics.counter('wasm_failures_total', 'Calls of WASM filters that failed, by reason.', ['reason'])
    if (path === undefined) return
    // Loaded only where there are filters.
    const [{ createHash }, { openFilter }, { readFilterFiles }, { filtering }] = await Promise.all([
      import('node:crypto'),
      import('./filter.ts'),
      import('./filter-files.ts'),
      import('./filtering.ts'),
    ])
    const failed = (reason: FailureReason) => failures.labels(reason).inc()
    const { clock, log } = gateway
    const files = await usable(readFilterFiles(path), failOpen, log)
    const opened = await openAll(openFilter, files, { failOpen, config, timeouts, clock, log, failed })
    const filters = opened.map(({ filter }) => filter)
    const caches = gateway.optional('exactCache')
    const stages = filtering({
      filters,
      failOpen,
      states: gateway.slot<RequestFilters>(),
      answers: gateway.slot<CanonicalResponse>(),
      unfit: (ctx) => caches()?.request(ctx, { noStore: true }),
    })

    const any = (hook: 'request' | 'response' | 'chunk') => filters.some(({ hooks }) => hooks.has(hook))
    if (any('request')) {
      gateway.hook('request', (ctx) => stages.request(ctx as RequestContext<'chat'>), { when: readsRequest })
      gateway.hook('answer', stages.answer, { order: 'pre', when: readsRequest, onError: 'closed' })
    }
    if (any('response')) gateway.hook('response', stages.response, { operation: 'chat', when: answersCaller })
    if (any('chunk')) gateway.hook('stream:batch', stages.batch, { when: answersCaller })
    if (filters.some(({ keepsState }) => keepsState)) gateway.hook('settled', stages.settled)

    // Cached answers depend on the filters, so the version covers them.
    const version = createHash('sha256').update(JSON.stringify([config, failOpen]))
    for (const { module } of opened) version.update(module)
    const digest = version.digest('hex')
    const cachePolicy = gateway.optional('cachePolicy')
    gateway.hook('ready', () => cachePolicy()?.version('wasm_filters', () => digest))
    return async () => void (await Promise.all(filters.map((filter) => filter.close())))
  },
})

interface Opening {
  failOpen: boolean
  config: Readonly<Record<string, string>>
  timeouts: Timeouts
  clock: Clock
  log: Logger
  failed(reason: FailureReason): void
}

/** @throws Error naming the first unusable filter, unless failing filters are skipped. */
async function openAll(
  openFilter: typeof import('./filter.ts').openFilter,
  files: readonly FilterFile[],
  { failOpen, ...rest }: Opening,
): Promise<Opened[]> {
  const opened: Opened[] = []
  for (const file of files) {
    try {
      const filter = await openFilter({ ...file, ...rest })
      opened.push({ filter, module: file.module })
      rest.log.info('wasm_filter.loaded', {
        filter: filter.name,
        version: filter.version,
        file: file.file,
        hooks: [...filter.hooks],
      })
    } catch (error) {
      if (!failOpen) {
        await Promise.all(opened.map(({ filter }) => filter.close()))
        throw error
      }
      rest.log.error('wasm_filter.skipped', { file: file.file, reason: String(error) })
    }
  }
  return opened
}

interface Opened {
  readonly filter: Filter
  readonly module: Uint8Array
}

async function usable(reading: Promise<FilterFile[]>, failOpen: boolean, log: Logger): Promise<FilterFile[]> {
  if (!failOpen) return reading
  return reading.catch((error: unknown) => {
    log.error('wasm_filters.skipped', { reason: String(error) })
    return []
  })
}

/** Matches requests to models, and requests for token counts. */
function readsRequest(ctx: RequestContext): boolean {
  return (ctx.operation === 'chat' || ctx.operation === 'count_tokens') && ctx.ingress !== null
}

/** Matches answers to callers, including those of internal calls. */
function answersCaller(ctx: RequestContext): boolean {
  return ctx.operation === 'chat' && rootOf(ctx).ingress !== null
}

export default wasmFilters
