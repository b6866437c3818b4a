// Serves GET /api/events: completed requests and changes of state as Server-Sent Events, and GET /api/live: the running ones.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { shuttingDown } from '../../core/errors/shutting-down.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { lagFacts } from './attention.ts'
import { liveHub } from './hub.ts'
import { listenerOf } from './listener.ts'
import { settledOf } from './payload.ts'
import { relayOf } from './relay.ts'
import { runningRoute } from './running.ts'
import { followState } from './state-events.ts'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Tells proxies not to buffer the stream.
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  // The address may contain a token.
  'referrer-policy': 'no-referrer',
}

export const liveEvents = definePlugin({
  name: 'live-events',
  config: z.strictObject({
    /** Number of stored events of each organization, for clients that reconnect or read slowly. */
    buffer: z.int().min(1).default(256),
    /** Maximum open streams of this gateway. */
    maxListeners: z.int().min(1).default(1000),
    /** Maximum open streams per session or token, or per address without sign-in. */
    maxPerSession: z.int().min(1).default(5),
  }),
  variables: {
    LIVE_EVENT_BUFFER: { option: 'buffer', about: 'Recent events kept for live subscribers.' },
  },
  setup(gateway, { buffer, maxListeners, maxPerSession }) {
    const { clock, metrics } = gateway
    const status = gateway.use('status')
    const plugins = gateway.use('plugins')
    const operators = gateway.optional('operators')
    const siblings = gateway.optional('siblings')()
    const lagged = metrics.tally('live_events_lagged_total', 'Live events that a listener was too slow for.', []).series()
    const lag = lagFacts(clock)
    const hub = liveHub({
      clock,
      size: buffer,
      draining: () => status.state === 'draining',
      relay: siblings && relayOf(siblings),
      lagged(events) {
        lagged.add(events)
        lag.missed(events)
      },
    })
    const refusals = metrics.tally('live_events_refused_total', 'Listeners to live events beyond a bound.', ['bound'])
    const refused = { all: refusals.series('total'), session: refusals.series('session') }
    const gauge = metrics.gauge('live_events_subscribers', 'Listeners to live events.')
    Object.assign(gauge, { collect: () => gauge.set(hub.subscribers) })

    const unanswer = runningRoute(gateway, siblings)
    followState(gateway, (changed) => hub.push(changed))
    gateway.hook('settled', (ctx, outcome) => hub.push(settledOf(ctx, outcome, clock.now())))

    gateway.api({
      method: 'GET',
      path: '/api/events',
      summary:
        'Completed requests as they end, and changes of state, as Server-Sent Events. `Last-Event-ID` goes on where a connection broke.',
      // The handler checks credentials itself, because EventSource cannot send a header.
      role: 'public',
      query: z.strictObject({
        access_token: z.string().max(8192).optional().describe('A session token, where no header can be sent.'),
      }),
      async handler({ request, query, peer }) {
        const identify = () => listenerOf(request, query.access_token, peer, operators())
        const { operator, session } = await identify()
        const { orgId } = operator
        if (status.state === 'draining') throw shuttingDown()
        if (hub.subscribers >= maxListeners) {
          refused.all.add(1)
          throw GatewayError.rateLimited(`At most ${maxListeners} listeners at a time: close one, or try again later.`, 10_000)
        }
        if (hub.listening(session) >= maxPerSession) {
          refused.session.add(1)
          throw GatewayError.rateLimited(`At most ${maxPerSession} listeners of one session at a time: close one first.`, 10_000)
        }
        await hub.prepare(orgId)
        const stream = hub.listen({
          orgId,
          session,
          hello: {
            version: status.version,
            buffer,
            // As GET /api/plugins, which needs this role.
            ...(operator.role === 'system' && { generation: plugins.sealed().serving?.generation ?? 1 }),
          },
          lastEventId: request.headers.get('last-event-id'),
          // A session that has ended receives no more events.
          allowed: () =>
            identify().then(
              (still) => still.operator.orgId === orgId,
              () => false,
            ),
        })
        return new Response(stream, { headers: HEADERS })
      },
    })
    const silence = gateway.use('attention').contribute('live-events', lag.facts)
    return () => {
      silence()
      unanswer?.()
      hub.close()
    }
  },
})

export default liveEvents
