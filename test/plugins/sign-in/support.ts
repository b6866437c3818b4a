// A gateway with sign-in and audit, and a password that is quick to check.
import { hash } from '@node-rs/argon2'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'

export const PASSWORD = 'correct horse battery staple'

export function cheapHash(password = PASSWORD): Promise<string> {
  return hash(password, { memoryCost: 64, timeCost: 1, parallelism: 1 })
}

export function openGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  return createTestGateway(options)
}

/** A password is set. */
export async function securedGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  return openGateway({ ...options, env: { DASHBOARD_PASSWORD_HASH: await cheapHash(), ...options.env } })
}

/** Hours go by on the wall at once, and no timer fires for each second of them. */
export interface JumpingClock extends FakeClock {
  jump(ms: number): void
}

export function jumpingClock(): JumpingClock {
  const timers = fakeClock()
  let passed = 0
  return {
    ...timers,
    // Jittered timers fire between two ms; a wall clock shows whole ones.
    now: () => Math.floor(timers.now()) + passed,
    jump: (ms) => {
      passed += ms
    },
  }
}

export const bearer = (credential: string): Record<string, string> => ({ authorization: `Bearer ${credential}` })

export async function sessionOf(t: TestGateway, password = PASSWORD): Promise<string> {
  const response = await t.post('/api/login', { password })
  if (response.status !== 200) throw new Error(`POST /api/login: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { token: string }).token
}

export interface MadeToken {
  id: number
  token: string
  [member: string]: unknown
}

export async function makeToken(t: TestGateway, session: string, body: Record<string, unknown> = {}): Promise<MadeToken> {
  const response = await t.post('/api/tokens', body, bearer(session))
  if (response.status !== 201) throw new Error(`POST /api/tokens: ${response.status} ${await response.text()}`)
  return (await response.json()) as MadeToken
}

export async function errorOf(
  response: Response,
): Promise<{ status: number; type: string; code: string | null; param: string | null; message: string }> {
  const { error } = (await response.json()) as {
    error: { type: string; code: string | null; param: string | null; message: string }
  }
  return { ...error, status: response.status }
}

export interface AuditRecord {
  seq: number
  action: string
  actor: string
  target: string | null
  ip: string | null
  details: Record<string, unknown>
}

export async function auditOf(t: TestGateway, session: string | null, query = ''): Promise<AuditRecord[]> {
  const response = await t.fetch(`/api/audit?limit=200${query}`, session === null ? {} : { headers: bearer(session) })
  return ((await response.json()) as { data: AuditRecord[] }).data
}
