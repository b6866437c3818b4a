// The request id in a caller's error leads to the log line with the details.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { rawHttp } from '../../adapters/node/support.ts'
import { recordingLog } from '../../support/recording-log.ts'

let t: TestGateway
afterEach(() => t.close())

const broken = definePlugin({
  name: 'test-broken',
  setup(gateway) {
    const handler = () => {
      throw new TypeError('who would have thought')
    }
    gateway.api({ method: 'GET', path: '/api/broken', summary: 'Fails.', handler })
    const common = { method: 'GET', operation: 'models', models: 'none', scope: 'none', keyRequired: false } as const
    gateway.data({ ...common, path: '/v1/broken', summary: 'Fails.', handler })
  },
})

it.each([
  ['/api/broken', 'control.failed'],
  ['/v1/broken', 'request.failed'],
])('a 500 of %s has the id of its line in the log', async (path, message) => {
  const log = recordingLog()
  t = await createTestGateway({ plugins: [broken()], ports: { log } })
  const response = await fetch(`${(await t.listen()).url}${path}`)
  expect(response.status).toBe(500)
  expect(((await response.json()) as { error: { message: string } }).error.message).not.toContain('who would')
  expect(log.lines.filter(({ level }) => level === 'error')).toEqual([
    {
      level: 'error',
      message,
      fields: {
        requestId: response.headers.get('x-gateway-request-id'),
        error: expect.stringContaining('TypeError: who would have thought'),
      },
    },
  ])
})

it('a data route that returns a web response: the log names the route and the fault', async () => {
  const log = recordingLog()
  const loose = definePlugin({
    name: 'test-loose',
    setup(gateway) {
      const handler = () => Response.json({}) as never
      gateway.data({ method: 'GET', path: '/v1/loose', operation: 'models', models: 'none', scope: 'none', handler })
    },
  })
  t = await createTestGateway({ plugins: [loose()], ports: { log } })
  const response = await t.fetch('/v1/loose')
  expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'internal_error' } }])
  expect(JSON.stringify(log.lines)).toContain('The handler of GET /v1/loose returned an object, which is no Result.')
})

it('what the host refuses before either plane sees it is answered as they answer', async () => {
  t = await createTestGateway()
  const { port } = await t.listen()
  const twice = await rawHttp(port, 'GET /api/keys HTTP/1.1\r\nhost: localhost\r\nx-api-key: a\r\nx-api-key: b\r\n\r\n')
  const lines = (count: number) => rawHttp(port, `GET /healthz HTTP/1.1\r\nhost: localhost\r\n${'x: 1\r\n'.repeat(count)}\r\n`)
  for (const [answer, status] of [
    [twice, 400],
    [await lines(101), 431],
    // Near the limit of bytes.
    [await lines(2600), 431],
  ] as const) {
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/^x-gateway-request-id: req_[0-9a-f-]{36}\r$/m)
    expect(answer).toMatch(/^cache-control: no-store\r$/m)
  }
})
