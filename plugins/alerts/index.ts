// The legacy alert webhook: an unsigned POST for each failed request, sent once without retries.
import { z } from 'zod'
import { guardAddress, parsedAddress } from '../../core/config/addresses.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { OutboundGuard } from '../../core/types/ports/ports.ts'
import { VERSION } from '../../core/version.ts'
import { alertBody, alertKind, FORMATS } from './alert.ts'

/** With this many alerts on the way, further ones are dropped and counted. */
const IN_FLIGHT = 4
const TIMEOUT_MS = 15_000

export const alerts = definePlugin({
  name: 'alerts',
  requires: ['outbound', 'outboundPost'],
  config: z.strictObject({
    /** null: no alerts. The operator chooses the URL: an internal address is allowed, a metadata service is not. */
    url: z.string().nullable().default(null),
    format: z.enum(FORMATS).default('generic'),
  }),
  variables: {
    ALERT_WEBHOOK_URL: { option: 'url', type: 'url', about: 'URL of the simple alert webhook.' },
    ALERT_WEBHOOK_FORMAT: { option: 'format', about: 'Format of the simple alert webhook.' },
  },
  setup(gateway, { url, format }) {
    if (url === null) return
    const { clock, log, profile } = gateway
    const post = gateway.use('outboundPost')
    const inward = inwardAddress(url, gateway.use('outbound'))
    if (inward && profile === 'cloud')
      log.warn('alerts.inward_address', {
        hint: 'GATEWAY_ALERT_WEBHOOK_URL is an address inside your network. Alerts are sent there all the same.',
      })
    const count = gateway.metrics.counter(
      'alert_webhooks_total',
      'Alerts: sent, failed, or dropped because too many were under way.',
      ['result'],
    )
    const headers = { 'content-type': 'application/json', 'user-agent': `gateway-webhooks/${VERSION}` }
    const running = new Set<AbortController>()
    let failing = false

    const send = async (body: string): Promise<void> => {
      const stop = new AbortController()
      running.add(stop)
      const timer = clock.timer(TIMEOUT_MS, () => stop.abort(), true)
      try {
        const { status } = await post({ url, headers, body, signal: stop.signal, inward })
        if (status < 200 || status >= 300) throw new Error(`It answered ${status}.`)
        count.inc({ result: 'sent' })
        failing = false
      } catch (error) {
        count.inc({ result: 'failed' })
        if (!failing) log.warn('alerts.unsent', { error: reasonOf(error) })
        failing = true
      } finally {
        timer.cancel()
        running.delete(stop)
      }
    }

    gateway.hook('settled', (ctx, outcome) => {
      const kind = alertKind(outcome)
      if (kind === null || ctx.ingress === null) return
      if (running.size >= IN_FLIGHT) return void count.inc({ result: 'dropped' })
      void send(alertBody(format, kind, ctx, outcome, clock.now()))
    })
    return () => {
      for (const stop of running) stop.abort()
    }
  },
})

/** Returns whether the URL is internal. @throws Error when no alert can be sent to it. */
function inwardAddress(url: string, outbound: OutboundGuard): boolean {
  try {
    guardAddress(
      parsedAddress(url, 'GATEWAY_ALERT_WEBHOOK_URL', /^https?:$/, 'an http or https URL'),
      'GATEWAY_ALERT_WEBHOOK_URL',
      {
        profile: 'local',
        outbound,
      },
    )
  } catch (error) {
    throw GatewayError.is(error) ? new Error(error.message) : error
  }
  try {
    outbound.check(url, 'GATEWAY_ALERT_WEBHOOK_URL')
    return false
  } catch {
    return true
  }
}

/** Network errors contain addresses. */
function reasonOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : error instanceof Error ? error.message : 'unknown'
}

export default alerts
