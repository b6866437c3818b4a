// Organizations on the data plane: each is served by its own connections, answers, limits and state, whatever the others do.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { choose, fail, type Step, text } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { founded, operator } from './wall/world.ts'

interface Member {
  readonly id: number | null
  readonly key: string
  api(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>
  ask(model: string, body?: object, headers?: Record<string, string>): Promise<{ status: number; text: string; headers: Headers }>
}

let t: TestGateway
let alpha: Member
let bravo: Member
let gateway: Member

async function member(id: number | null): Promise<Member> {
  const api: Member['api'] = async (method, path, body) => {
    const request = new Request(`http://gateway.test${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const peer = { address: null, local: false, secure: true, operator: operator(id, id === null ? 'system' : 'owner') }
    const answer = await t.gateway.control.fetch(request, peer)
    const said = await answer.text()
    return { status: answer.status, body: said.startsWith('{') ? JSON.parse(said) : {} }
  }
  const { key } = (await api('POST', '/api/keys', { label: `key of ${id}` })).body as { key: string }
  return {
    id,
    key,
    api,
    async ask(model, body = {}, headers = {}) {
      const answer = await t.post(
        '/v1/chat/completions',
        { model, messages: [{ role: 'user', content: 'the same for all' }], ...body },
        { authorization: `Bearer ${key}`, ...headers },
      )
      return { status: answer.status, text: await answer.text(), headers: answer.headers }
    },
  }
}

const connect = (who: Member, provider: string, more: object = {}) =>
  who.api('POST', '/api/providers', {
    provider,
    label: `${provider} of ${who.id}`,
    base_url: t.upstream.baseUrl('chat'),
    wire_format: 'chat',
    api_key: `sk-${provider}-${who.id}`,
    default_model: 'm',
    ...more,
  })

/** For calls that may not arrive: the upstream decides by the credential. */
const refusing = (status: number): Step =>
  choose(({ headers }) => (String(headers.authorization).endsWith(`-${alpha.id}`) ? fail(status) : text('still there')))

const lastCredential = (): string => String(t.upstream.requests.at(-1)?.headers.authorization)

beforeAll(async () => {
  t = await createTestGateway({ env: { MULTI_TENANT: 'true', DEDUP_TTL_MS: '60000' } })
  gateway = await member(null)
  alpha = await member((await founded(t, 'alpha')).org)
  bravo = await member((await founded(t, 'bravo')).org)
  for (const who of [alpha, bravo]) await connect(who, 'common')
  await connect(alpha, 'alphaonly')
})
afterAll(() => t.close())

describe('connections', () => {
  it('of the caller serve it, also where another organization has one of the same provider', async () => {
    for (const who of [alpha, bravo]) {
      t.upstream.push(text('ok'))
      expect((await who.ask('common/m', { seed: who.id })).status).toBe(200)
      expect(lastCredential()).toBe(`Bearer sk-common-${who.id}`)
    }
  })

  it.each([
    ['of another organization', 'alphaonly/m'],
    ['of the configuration file, which are the gateway’s own', 'chat/m'],
  ])('%s are like those of a provider that does not exist', async (_name, model) => {
    const before = t.upstream.requests.length
    const foreign = await bravo.ask(model)
    const unknown = await bravo.ask('absent/m')
    expect(foreign.status).toBe(400)
    expect(foreign.text.replaceAll(model, 'absent/m')).toBe(unknown.text)
    expect(t.upstream.requests).toHaveLength(before)
  })

  it('of another organization are no part of `auto`, bare ids, virtual models and model lists', async () => {
    await alpha.api('POST', '/api/virtual-models', { name: 'fast', strategy: 'failover', targets: ['alphaonly/m'] })
    await bravo.api('POST', '/api/virtual-models', { name: 'fast', strategy: 'failover', targets: ['common/m'] })
    for (const model of ['auto', 'm', 'fast']) {
      t.upstream.push(text('ok'))
      expect((await bravo.ask(model)).status, model).toBe(200)
      expect(lastCredential()).toBe(`Bearer sk-common-${bravo.id}`)
    }
    const listed = await t.fetch('/v1/models', { headers: { authorization: `Bearer ${bravo.key}` } })
    const names = await listed.text()
    expect(names).toContain('common/m')
    expect(names).not.toContain('alphaonly')
    expect(names).not.toContain('chat/')
  })

  it('cannot be named by a virtual model of another organization', async () => {
    const target = { name: 'stolen', strategy: 'failover', targets: ['alphaonly/m'] }
    const absent = { name: 'stolen', strategy: 'failover', targets: ['absent/m'] }
    const [foreign, unknown] = [
      await bravo.api('POST', '/api/virtual-models', target),
      await bravo.api('POST', '/api/virtual-models', absent),
    ]
    expect(foreign.status).toBe(400)
    expect(JSON.stringify(foreign.body).replaceAll('alphaonly', 'absent')).toBe(JSON.stringify(unknown.body))
  })
})

describe('answers', () => {
  it('of the exact cache serve the key that they were made for', async () => {
    t.upstream.push(text('for alpha'), text('for bravo'), text('for the gateway'))
    expect((await alpha.ask('common/m', { temperature: 0.5 })).text).toContain('for alpha')
    expect((await alpha.ask('common/m', { temperature: 0.5 })).headers.get('x-gateway-cache')).toBe('hit')
    const other = await bravo.ask('common/m', { temperature: 0.5 })
    expect(other.headers.get('x-gateway-cache')).toBe('miss')
    expect(other.text).toContain('for bravo')
  })

  it('that are being made are not shared with another organization', async () => {
    t.upstream.push(text('one', { delayMs: 20 } as never), text('two', { delayMs: 20 } as never))
    const before = t.upstream.requests.length
    await Promise.all([alpha.ask('common/m', { temperature: 0.6 }), bravo.ask('common/m', { temperature: 0.6 })])
    expect(t.upstream.requests).toHaveLength(before + 2)
  })
})

describe('the state of a provider', () => {
  it('of one organization, a refused key or an open circuit, does not touch another one', async () => {
    for (let i = 0; i < 6; i++) {
      t.upstream.push(refusing(401))
      await alpha.ask('common/m', { seed: 100 + i })
    }
    t.upstream.push(refusing(401))
    expect((await bravo.ask('common/m', { seed: 200 })).status).toBe(200)
    const accounts = (await bravo.api('GET', '/api/providers')).body as { data: { state: { status: string } }[] }
    expect(accounts.data.map(({ state }) => state.status)).toEqual(['active'])
  })

  it('that fails for one organization is no outage of another one', async () => {
    const told: unknown[] = []
    for (let i = 0; i < 12; i++) {
      t.upstream.push(refusing(503))
      await alpha.ask('alphaonly/m', { seed: 300 + i })
    }
    for (const who of [bravo, gateway]) {
      const { data } = (await who.api('GET', '/api/attention')).body as { data: unknown[] }
      told.push(...data)
    }
    expect(JSON.stringify(told)).not.toContain('alphaonly')
  })
})

describe('limits', () => {
  it('of one organization’s budget leave the other alone', async () => {
    await alpha.api('POST', '/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 0 })
    expect((await alpha.ask('common/m', { seed: 400 })).status).toBe(402)
    t.upstream.push(text('ok'))
    expect((await bravo.ask('common/m', { seed: 400 })).status).toBe(200)
  })
})

describe('live events', () => {
  it('reach listeners of the organization only', async () => {
    const listening = async (who: Member): Promise<() => Promise<string>> => {
      const stop = new AbortController()
      const request = new Request('http://gateway.test/api/events', { signal: stop.signal })
      const peer = {
        address: null,
        local: false,
        secure: true,
        operator: operator(who.id, who.id === null ? 'system' : 'member'),
      }
      const { body } = await t.gateway.control.fetch(request, peer)
      const reader = (body as ReadableStream<Uint8Array>).getReader()
      let heard = ''
      const reading = (async () => {
        for (let piece = await reader.read(); !piece.done; piece = await reader.read())
          heard += new TextDecoder().decode(piece.value)
      })().catch(() => {})
      return async () => {
        for (let turn = 0; turn < 200 && !heard.includes('event: request'); turn++) await new Promise((r) => setTimeout(r, 5))
        stop.abort()
        await reader.cancel().catch(() => {})
        await reading
        return heard
      }
    }
    const heard = [await listening(bravo), await listening(alpha), await listening(gateway)] as const
    t.upstream.push(text('ok'))
    expect((await bravo.ask('common/m', { seed: 500 })).status).toBe(200)
    expect(await heard[0]()).toContain(`"org_id":${bravo.id}`)
    const others = await Promise.all(heard.slice(1).map((end) => end()))
    for (const each of others) expect(each).not.toContain(`"org_id":${bravo.id}`)
  })
})

describe('the gateway’s own configuration', () => {
  it.each([
    ['PUT', '/api/settings', { 'breaker.cooldown_secs': 1 }],
    ['GET', '/api/config/plan', undefined],
    ['POST', '/api/export', {}],
    ['POST', '/api/pricing/sync', {}],
    ['GET', '/api/audit/export', undefined],
  ])('is closed to owners of an organization: %s %s', async (method, path, body) => {
    expect((await alpha.api(method, path, body)).status).toBe(403)
  })

  it('keeps proxy pools of the gateway from organizations', async () => {
    const made = await gateway.api('POST', '/api/proxy-pools', { name: 'own', proxy_url: 'http://proxy.example.com:3128' })
    expect(made.status).toBe(201)
    expect(JSON.stringify((await alpha.api('GET', '/api/proxy-pools')).body)).toBe('{"data":[]}')
    const { id } = made.body as { id: number }
    expect((await alpha.api('PUT', `/api/proxy-pools/${id}`, { name: 'mine' })).status).toBe(404)
  })
})
