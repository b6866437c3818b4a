// hookgate doctor --test: this machine's clock beside the Date headers of providers.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { config, finding } from './doctor-findings.ts'
import { folder, hookgate } from './hookgate.ts'
import { command } from './in-process.ts'

const DAY = 86_400
/** The path says how many seconds the server's clock is ahead; `none`: it sends no date. */
let provider: Server
let calls = 0
beforeAll(async () => {
  provider = createServer((request, response) => {
    calls++
    request.resume()
    const ahead = request.url?.split('/')[1] ?? ''
    response.sendDate = false
    if (ahead !== 'none') response.setHeader('date', new Date(Date.now() + Number(ahead) * 1000).toUTCString())
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end('{"error":{"message":"Incorrect API key provided."}}')
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
})
afterAll(() => {
  provider.closeAllConnections()
  provider.close()
})

interface Found {
  readonly check: string
}

async function place(ahead: readonly string[], host = '127.0.0.1') {
  const { port } = provider.address() as AddressInfo
  const connections = ahead.map(
    (seconds, at) =>
      `c${at}: { provider: 'openai', label: 'c${at}', apiKey: process.env.DOCTOR_KEY, baseUrl: 'http://${at === 0 ? host : `127.0.0.${at + 1}`}:${port}/${seconds}/v1' }`,
  )
  const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_PRICING_SYNC_ENABLED: 'false', DOCTOR_KEY: 'sk-of-a-test' }
  const cwd = folder(config(`{ connections: { ${connections.join(', ')} } }`))
  expect((await command(['apply', '--yes'], { cwd, env })).code).toBe(0)
  return {
    cwd,
    env,
    async clock(...flags: string[]): Promise<Found[]> {
      const { stdout } = await command(['doctor', '--json', ...flags], { cwd, env })
      return (JSON.parse(stdout) as { data: Found[] }).data.filter(({ check }) => check === 'clock')
    },
  }
}

it.each([
  [0, 'ok', /^This machine's clock is within 1 s of the Date header of 127\.0\.0\.1:\d+\.$/],
  [3, 'ok', /^This machine's clock is within [34] s of the Date header/],
  [90, 'warn', /^This machine's clock is (89|90) s behind the Date header of 127\.0\.0\.1:\d+\.$/],
  [-90, 'warn', /^This machine's clock is (89|90) s ahead of the Date header/],
  [DAY, 'warn', /^This machine's clock is (86399|86400) s behind the Date header/],
] as const)('a provider whose clock is %i s ahead: %s', async (ahead, status, message) => {
  const { clock } = await place([String(ahead)])
  expect(await clock('--test')).toEqual([finding(status, message)])
})

it('says the number and the fix to people, and a warning does not change the exit code by itself', async () => {
  const { cwd, env } = await place(['-600'])
  const { stdout } = await hookgate(['doctor', '--test'], { cwd, env })
  expect(stdout).toMatch(/^⚠ +clock +This machine's clock is (599|600) s ahead of .*\n +→ Set the clock/m)
  expect(stdout).toMatch(/\n1 failed, 1 warning,/)
})

it('says nothing without a date, and asks no provider without --test', async () => {
  expect(await (await place(['none'])).clock('--test')).toEqual([])
  const { clock } = await place(['90'])
  const before = calls
  expect(await clock()).toEqual([])
  expect(calls).toBe(before)
})
