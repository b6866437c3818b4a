// Searches everything that the gateway writes, answers and sends for the secrets of sign-ins.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fail, text } from '../../../adapters/testing/script.ts'
import { jsonLog } from '../../../core/log.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { filesOf, hitsOf, type Place } from '../../security/sweep.ts'
import { MASTER_KEY } from '../connections/support.ts'
import { type Setup, setup } from './support.ts'

let s: Setup
let dir: string
const lines: string[] = []
const answers: string[] = []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-oauth-canary-'))
  s = await setup({
    secret: 'client-secret-canary',
    env: { DATA_DIR: dir, MASTER_KEY, LOG_BODIES: 'true' },
    upstream: [text('Hello'), fail(401), text('Hello'), fail(403)],
    ports: { log: jsonLog(systemClock, { write: (line: string) => lines.push(line) }) },
  })
})
afterAll(async () => {
  await s.close()
  rmSync(dir, { recursive: true })
})

const seen = async (method: string, path: string, body?: unknown) => {
  const { status, json } = await s.call(method, path, body)
  // The state belongs to whoever began the sign-in.
  answers.push(`${method} ${path} ${status} ${JSON.stringify(json)}`)
  return json
}

/** Reads a stream in the background. */
function collected({ body }: Response): { text: string } {
  const all = { text: '' }
  const decoder = new TextDecoder()
  const read = async () => {
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) all.text += decoder.decode(part, { stream: true })
  }
  // It ends with the test.
  read().catch(() => {})
  return all
}

it('no token, code, verifier or client secret is anywhere but at the vendor and the upstream', async () => {
  const listening = new AbortController()
  const events = await s.t.fetch('/api/events', { signal: listening.signal })
  expect(events.status).toBe(200)
  const told = collected(events)
  const { id } = await s.signIn()
  await s.clock.advance('20s')
  for (let i = 0; i < 4; i++) {
    const answer = await s.ask()
    answers.push(await answer.text())
  }
  const device = await seen('POST', '/api/oauth/acme/device')
  s.vendor.next.push({ status: 400, body: { error: 'odd', error_description: `Bad ${[...s.vendor.secrets].join(' ')}` } })
  await s.clock.advance('6s')
  await seen('POST', `/api/oauth/device/${device.session_id}/poll`)
  await seen('POST', `/api/oauth/accounts/${id}/refresh`)
  s.vendor.next.push({ status: 400, body: { error: 'invalid_client', error_description: [...s.vendor.secrets].join(' ') } })
  await seen('POST', `/api/oauth/accounts/${id}/refresh`)
  const paths = [
    '/api/oauth/accounts',
    '/api/oauth/providers',
    '/api/providers',
    `/api/providers/${id}`,
    '/api/audit',
    '/api/logs',
    '/api/plugins',
    '/api/settings',
    '/api/attention',
    '/api/registry',
    '/api/policy',
    '/api/quota',
    '/api/config/plan',
    '/api/model-catalog',
    '/api/webhooks/endpoints',
    '/',
    '/connections',
    '/metrics',
    '/healthz',
  ]
  for (const path of paths) {
    const answer = await s.t.fetch(path)
    answers.push(`${path} ${answer.status} ${await answer.text()}`)
  }
  const { data } = await seen('GET', '/api/logs')
  expect(data.length).toBeGreaterThan(0)
  for (const { id: request } of data) for (const end of ['', '/export']) await seen('GET', `/api/logs/${request}${end}`)
  for (const path of ['/api/export', '/api/export?secrets=true'])
    answers.push(await (await s.t.fetch(path, { method: 'POST' })).text())
  await s.t.gateway.committed()
  // The vendor refuses the account for good.
  s.vendor.forgetAll()
  await seen('POST', `/api/oauth/accounts/${id}/refresh`)
  await seen('GET', '/api/attention')
  await s.t.gateway.committed()
  await expect.poll(() => told.text).toContain('"state":"refused"')
  listening.abort()
  answers.push(told.text)
  const verifiers = s.vendor.calls.flatMap(({ form }) => form.code_verifier ?? [])
  expect(verifiers).toHaveLength(1)
  const secrets = Object.fromEntries(
    [...s.vendor.secrets, ...verifiers, 'client-secret-canary'].map((secret) => [secret.slice(0, 16), secret]),
  )
  expect(Object.keys(secrets).length).toBeGreaterThan(6)
  const places: Place[] = [['log', lines.join('\n')], ['answers', answers.join('\n')], ...filesOf(dir)]
  expect(places.length).toBeGreaterThan(2)
  expect(lines.length + answers.length).toBeGreaterThan(20)
  expect(hitsOf(secrets, places)).toEqual([])
})
