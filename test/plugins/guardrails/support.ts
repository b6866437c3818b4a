// A gateway with given guardrails, requests with a text at every place, and their results.
import { afterEach } from 'vitest'
import { createTestGateway, reply, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { ask } from '../../adapters/node/support.ts'
import { answerOf, saidBy } from '../../support/dialects.ts'

export interface GuardOptions extends TestGatewayOptions {
  /** `guardrails` of the settings; `enabled` is added. */
  guardrails?: Record<string, unknown>
}

export function guarded({ guardrails = {}, ...options }: GuardOptions = {}): Promise<TestGateway> {
  const settings = { guardrails: { enabled: true, ...guardrails } }
  return createTestGateway({ ...options, config: { ...options.config, settings } })
}

/** The same, with the gateways closed after the file. Call it once per file. */
export function guardedOnes(): (options?: GuardOptions) => Promise<TestGateway> {
  const open: TestGateway[] = []
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close()
  })
  return async (options = {}) => {
    const t = await guarded(options)
    open.push(t)
    return t
  }
}

export async function sent(
  t: TestGateway,
  dialect: Dialect,
  text: string,
  { stream = false, headers = {} as Record<string, string>, model = `${dialect}/m` } = {},
): Promise<{
  status: number
  text: string
  error: { message: string; code: string | null; type: string; param: unknown } | null
}> {
  const { path, body } = ask(dialect, model, { stream, text })
  const response = await t.post(path, body, headers)
  const answer = await response.text()
  const error = answer.startsWith('{') && response.status >= 400 ? JSON.parse(answer).error : null
  return { status: response.status, text: answer, error }
}

/** Returns the caller's text when the upstream sends `content`, streamed in these pieces. */
export async function heard(
  t: TestGateway,
  dialect: Dialect,
  content: string,
  { stream = false, chunk = 7, model = `${dialect}/m`, question = 'Hello there' } = {},
): Promise<string> {
  t.upstream.script(reply({ text: content, chunk }))
  const answer = await sent(t, dialect, question, { stream, model })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  return saidBy(answerOf(dialect, answer.text, stream)).text
}

/** Changes the settings of a running gateway. */
export async function change(
  t: TestGateway,
  settings: unknown,
): Promise<{ status: number; error: { param: string; message: string } }> {
  const response = await t.fetch('/api/settings', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  })
  return { status: response.status, ...((await response.json()) as { error: { param: string; message: string } }) }
}

export async function logged(t: TestGateway, index = 0): Promise<Record<string, unknown>> {
  await t.untilSettled(index + 1)
  const id = t.settled[index]?.ctx.id as string
  return (await (await t.fetch(`/api/logs/${id}`)).json()) as Record<string, unknown>
}

/** Invented secrets of every format. */
export const SECRETS = {
  openai: 'sk-proj-Zt3Lq9Wm2Xv7Kp4Rn8Bd',
  anthropic: 'sk-ant-api03-Qw8Er5Ty2Ui9Op4As7Df',
  awsId: 'AKIAQ7RZK2M5XV4TWN3B',
  awsTemporary: 'ASIAQ7RZK2M5XV4TWN3B',
  github: 'ghp_9aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uV3w',
  githubOauth: 'gho_9aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uV3w',
  githubFine: 'github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ',
  // In two halves, so that repository scanners do not report it.
  slack: `xox${'b'}-123456789012-abcdefGHIJKL`,
  google: `AI${'za'}SyD4eF5gH6iJ7kL8mN9oP0qR1sT2uV3wX4y`,
  gitlab: 'glpat-aB3cD4eF5gH6iJ7kL8mN',
  npm: 'npm_aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uV3wXy',
  stripe: `sk_${'live'}_aB3cD4eF5gH6iJ7kL8mN9oP0`,
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  pem: '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA3Tz2mr7SZiAMfQyuvBjM9OiJjRazXBZ1BjP5CE/Wm/Rr500P\nRK+Lh9x5eJPo5CAZ3/ANBE0sTK0ZsDGMak2m1g==\n-----END RSA PRIVATE KEY-----',
} as const

export const PERSONAL = {
  email: 'jana.o-neil+x@mail.example.co.uk',
  phone: '+49 (0) 30 1234-5678',
  phoneUs: '(415) 555-2671',
  card: '4111 1111 1111 1111',
  amex: '378282246310005',
  ssn: '536-90-4399',
  iban: 'DE89 3704 0044 0532 0130 00',
  ipv4: '93.184.216.34',
  ipv6: '2606:4700:4700::1111',
} as const
