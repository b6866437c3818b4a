// Webhooks reach nobody inside: at save, and at every dial, over real sockets.
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { afterEach, describe, expect, it } from 'vitest'
import { certificate } from '../../../adapters/testing/certificate.ts'
import { listening } from '../../../adapters/testing/network-faults.ts'
import { outboundPost } from '../../../adapters/transport/outbound-post.ts'
import { sql } from '../../../core/db/sql.ts'
import { errorOf } from '../keys/support.ts'
import { INWARD } from './inward.ts'
import {
  type Endpoint,
  HOOK_URL,
  PUBLIC,
  SOMETHING,
  type SocketReceiver,
  socketReceiver,
  until,
  type World,
  type WorldOptions,
  world,
} from './support.ts'

let t: World
let receiver: SocketReceiver
afterEach(async () => {
  await t?.close()
  await receiver?.close()
})

const create = (url: string) => t.call('POST', '/api/webhooks/endpoints', { url })

async function overSockets(resolve?: (host: string) => readonly string[], options: WorldOptions = {}): Promise<void> {
  receiver = await socketReceiver(resolve)
  t = await world({ ...options, ports: { outboundPost: receiver.post } })
}

const attempted = (count = 1) => until(async () => (await t.deliveries())[0]?.attempts === count)

describe('at save', () => {
  it(`refuses all ${INWARD.length} ways to say an address inside, in both schemes, with 400 and \`param\``, async () => {
    t = await world()
    expect(INWARD.length).toBeGreaterThanOrEqual(60)
    const { id } = await t.endpoint()
    for (const host of INWARD) {
      for (const url of [`http://${host}/in`, `https://${host}:8443/in`]) {
        expect(await errorOf(await create(url)), url).toMatchObject({ status: 400, param: 'url' })
        const put = await t.call('PUT', `/api/webhooks/endpoints/${id}`, { url })
        expect(await errorOf(put), url).toMatchObject({ status: 400, param: 'url' })
      }
    }
    expect((await t.endpoints()).map(({ url }) => url)).toEqual([HOOK_URL])
  })

  it('takes http on the local profile, https only on cloud', async () => {
    t = await world()
    expect((await create('http://hooks.example.com/a')).status).toBe(201)
    expect((await create('https://hooks.example.com/a')).status).toBe(201)
    await t.close()
    t = await world({ env: { PROFILE: 'cloud' } })
    expect(await errorOf(await create('http://hooks.example.com/a'))).toMatchObject({ status: 400, param: 'url' })
    expect((await create('https://hooks.example.com/a')).status).toBe(201)
  })

  it('refuses credentials in the URL, other schemes, and what is no URL', async () => {
    t = await world()
    for (const url of ['http://user:pw@hooks.example.com/', 'ftp://hooks.example.com/', 'file:///etc/passwd', 'x', '', ' '])
      expect(await errorOf(await create(url)), url).toMatchObject({ status: 400, param: 'url' })
    expect((await errorOf(await create('ftp://hooks.example.com/'))).message).toBe('`url`: must be an http or https URL')
  })

  it('refuses the host of GATEWAY_PUBLIC_URL, in any spelling', async () => {
    t = await world({ env: { PUBLIC_URL: 'https://gw.example.com/base' } })
    for (const url of ['https://gw.example.com/api/keys', 'http://GW.example.com:8080/', 'https://gw.example.com./x'])
      expect(await errorOf(await create(url)), url).toMatchObject({ status: 400, param: 'url' })
    expect((await create('https://gw.example.com.evil.test/')).status).toBe(201)
  })
})

describe('at every dial', () => {
  it('reaches the address it checked', async () => {
    await overSockets()
    await t.endpoint()
    await t.outbox.publish(SOMETHING)
    await until(async () => (await t.deliveries())[0]?.status === 'delivered')
    expect(receiver.dialled).toEqual([PUBLIC])
    expect(receiver.arrived[0]?.headers).toMatchObject({ host: 'hooks.example.com', 'content-type': 'application/json' })
  })

  it('a name of which any address is inward is not dialled', async () => {
    for (const addresses of [['127.0.0.1'], [PUBLIC, '10.0.0.1'], ['::1'], ['169.254.169.254', PUBLIC], ['64:ff9b::1'], []]) {
      await overSockets(() => addresses)
      await t.endpoint()
      await t.outbox.publish(SOMETHING)
      await attempted()
      expect([receiver.dialled, receiver.arrived], addresses.join()).toEqual([[], []])
      expect((await t.deliveries())[0]).toMatchObject({ status: 'pending', last_status: null })
      expect((await t.deliveries())[0]?.last_error).not.toMatch(/\d+\.\d+\.\d+/)
      await t.close()
      await receiver.close()
    }
  })

  it('a resolver that flips gets no second look: 1,000 dials, none inward', async () => {
    let flips = 0
    receiver = await socketReceiver(() => (flips++ % 2 === 0 ? [PUBLIC] : ['127.0.0.1']))
    const signal = () => new AbortController().signal
    let refused = 0
    for (let i = 0; i < 1000; i += 50) {
      await Promise.all(
        Array.from({ length: 50 }, () =>
          receiver.post({ url: HOOK_URL, headers: {}, body: '{}', signal: signal() }).catch(() => void refused++),
        ),
      )
    }
    expect(flips).toBe(1000)
    expect(receiver.dialled.every((address) => address === PUBLIC)).toBe(true)
    expect([receiver.dialled.length, refused, receiver.arrived.length]).toEqual([500, 500, 500])
  })

  it('a literal that came into the table another way is not dialled either', async () => {
    await overSockets()
    const { id } = await t.endpoint()
    for (const host of ['127.0.0.1', '[::1]', '169.254.169.254', '10.1.2.3', '2130706433']) {
      await t.plugin.db.run(
        sql`UPDATE webhooks_endpoints SET url = ${`http://${host}:${receiver.port}/in`} WHERE public_id = ${id}`,
      )
      const sent = await t.call('POST', `/api/webhooks/endpoints/${id}/test`)
      expect(await sent.json(), host).toMatchObject({ status: 'failed', last_status: null })
    }
    expect([receiver.dialled, receiver.arrived]).toEqual([[], []])
  })

  it('a redirect is a failure and is not followed', async () => {
    await overSockets()
    await t.endpoint()
    receiver.answer = (_one, response) => void response.writeHead(302, { location: 'http://hooks.example.com/elsewhere' }).end()
    await t.outbox.publish(SOMETHING)
    await attempted()
    expect(receiver.arrived.map(({ path }) => path)).toEqual(['/in'])
    expect((await t.deliveries())[0]).toMatchObject({ status: 'pending', last_status: 302 })
  })

  it('a port on which nobody listens is a failed attempt that names no address', async () => {
    await overSockets()
    await t.endpoint()
    await receiver.close()
    await t.outbox.publish(SOMETHING)
    await attempted()
    expect((await t.deliveries())[0]).toMatchObject({
      last_status: null,
      last_error: 'The endpoint could not be reached (ECONNREFUSED).',
    })
  })
})

it('on the cloud profile a delivery goes over TLS to the name of its URL, whose certificate is looked at', async () => {
  const { key, cert } = certificate({ host: 'hooks.example.com' })
  const bodies: string[] = []
  const server = createServer({ key, cert }, (request, response) => {
    request.on('data', (chunk) => bodies.push(String(chunk)))
    request.on('end', () => void response.writeHead(200).end())
  })
  const port = await listening(server)
  const post = outboundPost({
    resolve: async () => [{ address: PUBLIC, family: 4 }],
    dial: () => ({ host: '127.0.0.1', port }),
    ca: cert,
  })
  t = await world({ env: { PROFILE: 'cloud' }, ports: { outboundPost: post } })
  const right = await t.endpoint({ url: 'https://hooks.example.com/in' })
  const wrong = await t.endpoint({ url: 'https://other.example.com/in' })
  const test = async ({ id }: Endpoint) => (await t.call('POST', `/api/webhooks/endpoints/${id}/test`)).json()
  expect(await test(right)).toMatchObject({ status: 'delivered', last_status: 200 })
  expect(await test(wrong)).toMatchObject({
    status: 'failed',
    last_error: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
  })
  expect(bodies).toHaveLength(1)
  server.closeAllConnections()
  server.close()
})

describe('a hostile receiver', () => {
  it('with an answer without end is read no further than 4 KiB, and its status counts', async () => {
    await overSockets()
    await t.endpoint()
    let written = 0
    receiver.answer = (_one, response) => {
      response.writeHead(200)
      const chunk = Buffer.alloc(65_536)
      const more = (): void => {
        while (!response.destroyed && written < 200 * 1024 * 1024) {
          written += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
      }
      more()
    }
    await t.outbox.publish(SOMETHING)
    await until(async () => (await t.deliveries())[0]?.status === 'delivered')
    // Sockets hold some of it on the way.
    expect(written).toBeLessThan(20 * 1024 * 1024)
  })

  const slow: [string, (response: ServerResponse) => void, string, number | null][] = [
    ['never answers', () => {}, 'pending', null],
    ['sends a head and then nothing', (response) => void response.writeHead(200).flushHeaders(), 'delivered', 200],
    [
      'sends its answer byte by byte',
      (response) => {
        response.writeHead(500)
        const drip = setInterval(() => response.write('x'), 5)
        response.on('close', () => clearInterval(drip))
      },
      'pending',
      500,
    ],
  ]
  for (const [what, answer, status, lastStatus] of slow) {
    it(`that ${what} is left after 15 s`, async () => {
      await overSockets()
      await t.endpoint()
      let closed = false
      receiver.answer = (_one, response) => {
        response.on('close', () => {
          closed = true
        })
        answer(response)
      }
      await t.outbox.publish(SOMETHING)
      await until(() => receiver.arrived.length === 1)
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect((await t.deliveries())[0]?.attempts).toBe(0)
      await t.clock.advance(15_001)
      await attempted()
      await until(() => closed)
      expect((await t.deliveries())[0]).toMatchObject({ status, last_status: lastStatus })
    })
  }
})
