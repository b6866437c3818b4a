// The legacy alert webhook.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { fail, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { outboundPost } from '../../../adapters/transport/outbound-post.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { OutboundPost } from '../../../core/types/ports/ports.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { ask, bearer, makeKey } from '../keys/support.ts'
import { socketReceiver, turns, until } from '../webhooks/support.ts'

const URL_ = 'http://alerts.example.com/in'

let t: TestGateway | undefined
afterEach(async () => {
  await t?.close()
  t = undefined
})

interface Sent {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

async function open(options: TestGatewayOptions = {}, post?: OutboundPost): Promise<{ t: TestGateway; sent: Sent[] }> {
  const sent: Sent[] = []
  const outboundPost: OutboundPost =
    post ??
    (async ({ signal: _, ...one }) => {
      sent.push(one)
      return { status: 200 }
    })
  const { env, ports, ...rest } = options
  t = await createTestGateway({
    ...rest,
    env: { ALERT_WEBHOOK_URL: URL_, ...env },
    ports: { outboundPost, ...ports },
    config: { settings: { breaker: { failure_threshold: 1000 } }, ...options.config },
  })
  return { t, sent }
}

async function chat(at: TestGateway, model = 'chat/m', headers: Record<string, string> = {}): Promise<number> {
  const before = at.settled.length
  const response = await at.post('/v1/chat/completions', ask(model), headers)
  await response.arrayBuffer()
  await at.untilSettled(before + 1)
  await turns(5)
  return response.status
}

const refusing = (error: () => Error) =>
  definePlugin({
    name: 'refusing',
    setup: (gateway) =>
      gateway.hook('access', () => {
        throw error()
      }),
  })()

const totals = async (at: TestGateway, result: string): Promise<number> =>
  Number(
    new RegExp(`gateway_alert_webhooks_total{result="${result}"} (\\d+)`).exec(await (await at.fetch('/metrics')).text())?.[1] ??
      0,
  )

describe('an alert', () => {
  it('is an unsigned POST on a server error, with figures and names alone', async () => {
    const leak = 'CANARY-prompt-991'
    const { t, sent } = await open({ upstream: [fail(503, { message: `no ${leak}` })] })
    const { id, key } = await makeKey(t, { label: 'ci' })
    expect(await chat(t, 'chat/some-model', bearer(key))).toBe(503)
    expect(sent).toHaveLength(1)
    const [{ url, headers, body }] = sent as [Sent]
    const requestId = t.settled[0]?.ctx.id
    expect(url).toBe(URL_)
    expect(Object.keys(headers).sort()).toEqual(['content-type', 'user-agent'])
    expect(JSON.parse(body)).toEqual({
      kind: 'server_error',
      text: `server_error: 503 upstream_error for chat/some-model from chat, key ci (${requestId})`,
      request_id: requestId,
      occurred_at: expect.stringMatching(/Z$/),
      status: 503,
      code: 'upstream_error',
      provider: 'chat',
      model: 'some-model',
      virtual_model: null,
      api_key_id: id,
      api_key_label: 'ci',
      latency_ms: expect.any(Number),
    })
    expect(body).not.toContain(leak)
    expect(body).not.toContain(key)
  })

  it('goes out for 402 and for every 429, the gateway’s own too; not for success and the caller’s mistakes', async () => {
    const first = await open({ plugins: [refusing(() => GatewayError.budgetExhausted('used up'))] })
    expect(await chat(first.t)).toBe(402)
    expect(first.sent.map(({ body }) => JSON.parse(body).kind)).toEqual(['budget_rejected'])
    await first.t.close()
    const { t, sent } = await open({ upstream: [text('ok')] })
    const { key } = await makeKey(t, { rate_limit_rpm: 1 })
    expect(await chat(t, 'chat/m', bearer(key))).toBe(200)
    expect(await chat(t, 'nobody/m')).toBe(400)
    expect(sent).toEqual([])
    expect(await chat(t, 'chat/m', bearer(key))).toBe(429)
    expect(sent.map(({ body }) => JSON.parse(body))).toMatchObject([{ kind: 'rate_limited', status: 429, code: 'rate_limited' }])
  })

  it('is `{text}` for Slack and `{content}` for Discord, and calls nobody', async () => {
    for (const [format, member] of [
      ['slack', 'text'],
      ['discord', 'content'],
    ] as const) {
      const { t, sent } = await open({ upstream: [fail(500)], env: { ALERT_WEBHOOK_FORMAT: format } })
      const { key } = await makeKey(t, { label: '<!channel> @everyone' })
      await chat(t, 'chat/m', bearer(key))
      const body = JSON.parse(sent[0]?.body as string) as Record<string, string>
      expect(Object.keys(body)).toEqual([member])
      expect(body[member]).toMatch(/^server_error: 500 upstream_error for chat\/m/)
      expect(body[member]).not.toContain(format === 'slack' ? '<!' : '@everyone')
      await t.close()
    }
  })

  it('is sent once and forgotten: a failure is counted, logged once, and harms no request', async () => {
    const log = recordingLog()
    let asked = 0
    const { t } = await open({ upstream: [fail(500)], ports: { log } }, async () => {
      asked++
      if (asked % 2 === 0) return { status: 500 }
      throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:80'), { code: 'ECONNREFUSED' })
    })
    for (let i = 0; i < 4; i++) expect(await chat(t, `chat/m${i}`)).toBe(500)
    expect([asked, await totals(t, 'failed')]).toEqual([4, 4])
    const lines = log.lines.filter(({ message }) => message === 'alerts.unsent')
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain('10.0.0.1')
  })

  it('in a storm no more than four are under way, and the rest is dropped and counted', async () => {
    const waiting: (() => void)[] = []
    const { t } = await open({ upstream: [fail(500)] }, async () => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { status: 200 }
    })
    for (let i = 0; i < 20; i++) await chat(t, `chat/m${i}`)
    expect([waiting.length, await totals(t, 'dropped')]).toEqual([4, 16])
    for (const go of waiting.splice(0)) go()
    await turns(5)
    await chat(t)
    expect(waiting).toHaveLength(1)
    waiting[0]?.()
    await turns(5)
    expect(await totals(t, 'sent')).toBe(5)
  })

  it('is not sent where no URL is set', async () => {
    const { t, sent } = await open({ upstream: [fail(500)], env: { ALERT_WEBHOOK_URL: '' } })
    await chat(t)
    expect(sent).toEqual([])
  })
})

describe('the URL', () => {
  it.each(['local', 'cloud'] as const)('may go to an address inside, which the operator chose: %s', async (profile) => {
    const arrived: string[] = []
    const receiver = createServer((request, response) => {
      arrived.push(`${request.method} ${request.url}`)
      response.end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const log = recordingLog()
    try {
      const env = { PROFILE: profile, ALERT_WEBHOOK_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in` }
      const { t } = await open({ upstream: [fail(500)], env, ports: { log } }, outboundPost())
      const { key } = await makeKey(t, { label: 'ci' })
      await chat(t, 'chat/m', bearer(key))
      await until(async () => arrived.length === 1)
      expect(arrived).toEqual(['POST /in'])
      expect(log.lines.filter((line) => JSON.stringify(line).includes('inside your network'))).toHaveLength(
        profile === 'cloud' ? 1 : 0,
      )
    } finally {
      receiver.close()
    }
  })

  it('never goes to a metadata service: the boot stops, naming the variable', async () => {
    for (const host of ['169.254.169.254', '0xa9fea9fe', '[::ffff:169.254.169.254]', 'metadata.google.internal', '168.63.129.16'])
      await expect(open({ env: { ALERT_WEBHOOK_URL: `http://${host}/x` } }), host).rejects.toThrow('GATEWAY_ALERT_WEBHOOK_URL')
  })

  it('a name that resolves inward is not dialled, and a redirect is not followed', async () => {
    let addresses = ['127.0.0.1']
    const receiver = await socketReceiver(() => addresses)
    try {
      const { t } = await open({ upstream: [fail(500)] }, receiver.post)
      await chat(t)
      await until(async () => (await totals(t, 'failed')) === 1)
      expect([receiver.dialled, receiver.arrived]).toEqual([[], []])
      addresses = ['93.184.215.14']
      receiver.answer = (_one, response) => void response.writeHead(307, { location: 'http://alerts.example.com/b' }).end()
      await chat(t)
      await until(async () => (await totals(t, 'failed')) === 2)
      expect(receiver.arrived.map(({ path }) => path)).toEqual(['/in'])
    } finally {
      await t?.close()
      t = undefined
      await receiver.close()
    }
  })
})
