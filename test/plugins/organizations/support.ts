// A gateway with tenants, and the acts of its people.
import { expect, vi } from 'vitest'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'

import { definePlugin } from '../../../core/plugins/define.ts'
import type { EventMap, Services } from '../../../core/types/plugin/plugin.ts'
import { preset } from '../../../plugins/preset.ts'

export { errorOf } from '../sign-in/support.ts'
export const PASSWORD = 'correct horse battery staple'

export const bearer = (credential: string): Record<string, string> => ({ authorization: `Bearer ${credential}` })

export function openTenants(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const config = { ...(brings(options, 'mail') && { plugins: preset({ mail: false }) }), ...options.config }
  const env = { MULTI_TENANT: 'true', PUBLIC_URL: 'https://gateway.test', ...options.env }
  return createTestGateway({ ...options, config, env })
}

function brings({ plugins = [] }: TestGatewayOptions, name: string): boolean {
  return plugins.some((plugin) => 'name' in plugin && plugin.name === name)
}

export interface Session {
  token: string
  expires_at: string
  user: { id: number; email: string; name: string | null; email_verified: boolean; role: string }
  org: { id: number; name: string } | null
  role: string
}

/** Every sign-up has an address of its own to be counted under. */
let addresses = 0
const elsewhere = () => ({ 'x-forwarded-for': `198.51.${Math.floor(++addresses / 250) % 250}.${addresses % 250}` })

export async function signUp(t: TestGateway, email: string, more: Record<string, unknown> = {}): Promise<Session> {
  const response = await t.post('/api/auth/signup', { email, password: PASSWORD, ...more }, elsewhere())
  if (response.status !== 201) throw new Error(`POST /api/auth/signup: ${response.status} ${await response.text()}`)
  return (await response.json()) as Session
}

export async function logIn(t: TestGateway, email: string, password = PASSWORD): Promise<Session> {
  const response = await t.post('/api/auth/login', { email, password }, elsewhere())
  if (response.status !== 200) throw new Error(`POST /api/auth/login: ${response.status} ${await response.text()}`)
  return (await response.json()) as Session
}

/** A call of the control plane as the owner of `session`. */
export function as(t: TestGateway, { token }: Pick<Session, 'token'>) {
  return async <T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: T }> => {
    const response = await t.fetch(path, {
      method,
      headers: { ...bearer(token), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as T }
  }
}

export interface SentLetter {
  to: string
  kind: string
  orgId: number | null
  /** The one-time token of its link. */
  token: string
}

/** Stands in for the mail: keeps every letter. */
export function postbox({ delivers = true } = {}) {
  const sent: SentLetter[] = []
  const plugin = definePlugin({
    name: 'mail',
    setup(gateway) {
      gateway.provide('mail', {
        delivers,
        async send({ to, kind, orgId, action }) {
          if (kind === 'none') return
          sent.push({ to, kind, orgId, token: action?.path.split('#token=')[1] ?? '' })
        },
        link: (path) => `https://gateway.test${path}`,
      })
    },
  })
  return {
    plugin: plugin(),
    sent,
    /** Resolves to the next letter of this kind to the address; each is returned once. */
    async letter(kind: string, to: string): Promise<SentLetter> {
      const find = () => sent.findIndex((candidate) => candidate.kind === kind && candidate.to === to)
      await vi.waitFor(() => expect(find()).not.toBe(-1), { timeout: 10_000 })
      return sent.splice(find(), 1)[0] as SentLetter
    },
  }
}

/** Shows the service to a test. */
export function peephole() {
  let seen: Services['organizations'] | null = null
  const created: EventMap['user.created'][] = []
  const audited: [action: string, orgId: number | null][] = []
  const plugin = definePlugin({
    name: 'peephole',
    requires: ['organizations'],
    setup(gateway) {
      seen = gateway.use('organizations')
      gateway.events.on('user.created', (data) => void created.push(data))
      gateway.events.on('audit.appended', ({ action }, { orgId }) => void audited.push([action, orgId]))
    },
  })
  return { plugin: plugin(), service: () => seen as Services['organizations'], created, audited }
}
