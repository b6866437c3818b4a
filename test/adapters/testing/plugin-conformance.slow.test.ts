// The conformance kit: a correct plugin passes every case, and each violation is found.
import { describe, expect, it } from 'vitest'
import { pluginConformance } from '../../../adapters/testing/plugin-conformance/plugin-conformance.ts'
import { requestOf } from '../../../adapters/testing/requests.ts'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import type { CanonicalRequest } from '../../../core/types/request/canonical.ts'
import { houseRules } from '../../../examples/custom-plugin.ts'
import { recordingLog } from '../../support/recording-log.ts'

describe('the plugin of the examples', () => {
  const cases = pluginConformance(() => houseRules({ codeName: 'bluebird', refuse: ['password'] }), { latencyMs: 250 })
  for (const { name, run } of cases) it(name, run, 60_000)
})

/** Returns the names of the failing cases whose name matches. */
async function failing(make: () => Plugin, only: RegExp, latencyMs = 1000): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of pluginConformance(make, { latencyMs, recordings: { text: { text: 'Hello to you, heron.' } } })) {
    if (!only.test(name)) continue
    await Promise.resolve(run()).catch(() => failed.push(name))
  }
  return failed
}

const plugin = (setup: Parameters<typeof definePlugin>[0]['setup']) => () => definePlugin({ name: 'under-test', setup })()

describe('it finds a plugin that', () => {
  it('writes to a request without edit()', async () => {
    const writes = plugin((gateway) =>
      gateway.hook('request', (ctx) => void (ctx.request as CanonicalRequest).messages.push({ role: 'user', parts: [] })),
    )
    expect(await failing(writes, /^chat, whole/)).toHaveLength(1)
  })

  it('fails where nobody sees it', async () => {
    const silent = plugin((gateway) =>
      gateway.hook('settled', () => {
        throw new Error('nobody sees this')
      }),
    )
    expect(await failing(silent, /^messages, streamed/)).toHaveLength(1)
  })

  it('swallows the end of a stream', async () => {
    const swallows = plugin((gateway) =>
      gateway.hook('stream', () => ({
        event: (event, emit) => (event.e === 'end' || event.e === 'finish' ? undefined : emit(event)),
      })),
    )
    expect(await failing(swallows, /streamed: answers|whole: answers/)).toEqual(
      ['chat', 'messages', 'responses', 'generate_content'].map(
        (caller) => `${caller}, streamed: answers of every dialect come through complete, however they are cut`,
      ),
    )
  })

  it('keeps its state in the module', async () => {
    let ended = false
    const shared = plugin((gateway) => {
      gateway.hook('access', () => {
        if (ended) throw new Error('it has ended')
      })
      return () => {
        ended = true
      }
    })
    expect(await failing(shared, /^two gateways/)).toHaveLength(1)
  })

  it('fails on an upstream that fails', async () => {
    const brittle = plugin((gateway) =>
      gateway.hook('settled', (ctx, { status }) => {
        if (status >= 500) ctx.responseHeaders.set('x', (ctx.upstreamHeaders as unknown as { nothing: string }).nothing.trim())
      }),
    )
    expect(await failing(brittle, /answers 500|answers 400/)).toEqual([
      'an upstream that answers 500: the request ends, and the next one is served',
    ])
  })

  it('takes longer than it may', async () => {
    const slow = plugin((gateway) =>
      gateway.hook('request', () => {
        const until = performance.now() + 8
        while (performance.now() < until);
      }),
    )
    expect(await failing(slow, /whole answer takes/, 4)).toHaveLength(1)
  }, 30_000)
})

describe('a plugin that throws', () => {
  const throwing = (onError: 'open' | 'closed') =>
    plugin((gateway) =>
      gateway.hook(
        'request',
        () => {
          throw new Error('a bug')
        },
        { onError },
      ),
    )

  it.each([
    ['open', 200],
    ['closed', 503],
  ] as const)('%s: the request ends with %i, the gateway goes on, and log and metric name the plugin', async (onError, status) => {
    const log = recordingLog()
    const t = await createTestGateway({ plugins: [throwing(onError)()], ports: { log } })
    const { path, body } = requestOf('chat', 'chat', false)
    expect((await t.post(path, body)).status).toBe(status)
    expect((await t.fetch('/healthz')).status).toBe(200)
    expect(log.lines.filter(({ message }) => message === 'plugin.error')).toMatchObject([
      { level: 'error', fields: { plugin: 'under-test', hook: 'request' } },
    ])
    const metrics = await (await t.fetch('/metrics')).text()
    expect(metrics).toMatch(/gateway_plugin_errors_total\{plugin="under-test",hook="request"\} 1/)
    await t.close()
  })
})
