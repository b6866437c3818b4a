// The request log: writes a row for every exchange with a delay, and the bodies if enabled.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { logRoutes } from './api.ts'
import { lossFacts } from './attention.ts'
import { captureAnswers, failureAnswer } from './bodies/capture.ts'
import { credentialRefusals } from './credential-refusals.ts'
import { entryOf } from './entry.ts'
import { migrations } from './migrations.ts'
import { logQueue } from './queue.ts'
import { prune } from './retention.ts'
import type { OmittedBodies } from './service.ts'

const HOUR_MS = 3_600_000

const amount = (fallback: number) => z.int().min(0).default(fallback)

export const requestLog = definePlugin({
  name: 'request-log',
  config: z.strictObject({
    /** False: no request is logged; usage, budgets and metrics still work. */
    enabled: z.boolean().default(true),
    /** Largest size of each body, bytes. */
    maxBodyBytes: amount(1_048_576),
    /** 0 = unlimited. */
    retentionDays: amount(30).meta({ env: 'LOG_RETENTION_DAYS' }),
    /** Size of all rows and bodies together; 0 = unlimited. */
    retentionMaxBytes: amount(2_147_483_648),
    /** 0 = as long as rows. */
    bodyRetentionDays: amount(0),
    /** Logged calls with a wrong or missing credential per minute; further ones are only counted. */
    refusedPerMinute: amount(60),
  }),
  settings: {
    'request_log.bodies': z.boolean().default(false).meta({ scope: 'organization' }),
  },
  variables: {
    LOG_ENABLED: { option: 'enabled', about: 'Store a row for each request.' },
    LOG_BODIES: { setting: 'request_log.bodies', about: 'Store bodies. The setting `request_log.bodies` overrides it.' },
    LOG_MAX_BODY_BYTES: { option: 'maxBodyBytes', about: 'Largest stored part of one body, bytes.' },
    LOG_RETENTION_MAX_BYTES: {
      option: 'retentionMaxBytes',
      about: 'Largest size of the request log with its bodies, bytes; 0 disables pruning by size.',
    },
    LOG_BODY_RETENTION_DAYS: { option: 'bodyRetentionDays', about: 'Days for which bodies are kept; 0 = as long as rows.' },
  },
  migrations,
  setup(gateway, config) {
    const { db, clock, log, settings } = gateway
    const queue = logQueue(gateway, config.maxBodyBytes)
    logRoutes(gateway, () => queue.flush())

    const omissions = gateway.slot<OmittedBodies>()
    gateway.provide('requestLog', { omit: (ctx, omitted) => omissions.set(ctx, omitted) })

    const bodiesOf = settings.compiled((get) => get('request_log.bodies'))
    const logsBodies = ({ principal }: RequestContext): boolean => bodiesOf(principal.orgId)
    if (config.enabled) {
      const answerOf = captureAnswers(gateway, logsBodies, config.maxBodyBytes)
      const isLogged = credentialRefusals(gateway, config.refusedPerMinute)
      gateway.hook('settle', (ctx, outcome) => {
        if (!isLogged(outcome)) return
        const omitted = omissions.get(ctx)
        const entry = entryOf(ctx, outcome)
        if (!logsBodies(ctx)) return queue.push(entry, null)
        const request = omitted?.request ? null : ctx.rawBody
        const answer = omitted?.answer ? null : (answerOf(ctx) ?? failureAnswer(outcome.error))
        const kept = request === null && answer === null
        queue.push(entry, kept ? null : { requestId: ctx.id, orgId: entry.orgId, at: ctx.startedAt, request, answer })
      })
    }

    const stopped = new AbortController()
    let pruning: Promise<void> | null = null
    const limits = { days: config.retentionDays, bodyDays: config.bodyRetentionDays, maxBytes: config.retentionMaxBytes }
    const pruned = (): Promise<void> => {
      pruning ??= prune(db, clock, limits, stopped.signal)
        .then(({ rows, bodies: texts }) => {
          if (rows + texts > 0) log.info('request_log.pruned', { rows, bodies: texts })
        })
        .catch((error: unknown) => {
          if (!stopped.signal.aborted) log.error('request_log.prune_failed', { error: String(error) })
        })
        .finally(() => {
          pruning = null
        })
      return pruning
    }
    gateway.every('retention', HOUR_MS, pruned, { once: true })
    // Runs beside the first requests, so that they do not wait.
    gateway.hook('ready', () => void pruned())

    const silence = gateway.use('attention').contribute('request-log', lossFacts(queue, clock))
    return async () => {
      silence()
      stopped.abort(new Error('teardown'))
      await pruning
      await queue.close()
    }
  },
})

export default requestLog
