// Azure over real HTTP: keys, tokens of Entra ID that are renewed early and once, and addresses by deployment.
import { describe, expect, it } from 'vitest'
import { ask, gateway, json, server, tokens } from './support.ts'

describe('Azure', () => {
  const registration = (authority: string) =>
    JSON.stringify({ tenant_id: 'tenant-1', client_id: 'app-1', client_secret: 'secret-canary-of-entra', authority })
  const CHAT = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }

  it('gets a token of Entra ID for its app registration, and renews it early, once', async () => {
    const auth = await tokens()
    const upstream = await server((_seen, response) => json(response, CHAT))
    const { t, clock } = await gateway({
      az: { provider: 'azure', baseUrl: `${upstream.url}/openai/v1`, apiKey: registration(auth.url) },
    })
    await Promise.all(Array.from({ length: 20 }, () => ask(t, 'azure/my-deployment')))
    expect(auth.seen.map(({ path }) => path)).toEqual(['/tenant-1/oauth2/v2.0/token'])
    expect(Object.fromEntries(new URLSearchParams(auth.seen[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'app-1',
      client_secret: 'secret-canary-of-entra',
      scope: 'https://cognitiveservices.azure.com/.default',
    })
    expect(upstream.seen[0]?.headers.authorization).toBe('Bearer token-1')
    expect(upstream.seen[0]?.headers).not.toHaveProperty('api-key')
    await clock.advance('56m')
    await Promise.all(Array.from({ length: 20 }, () => ask(t, 'azure/my-deployment')))
    await expect.poll(() => auth.seen.length).toBe(2)
  })

  it.each(['soon', '3600', null, undefined])('renews a token early whose life is %s, as an hour', async (expires_in) => {
    const auth = await server((_seen, response, count) => json(response, { access_token: `token-${count}`, expires_in }))
    const upstream = await server((_seen, response) => json(response, CHAT))
    const { t, clock } = await gateway({
      az: { provider: 'azure', baseUrl: `${upstream.url}/openai/v1`, apiKey: registration(auth.url) },
    })
    await ask(t, 'azure/my-deployment')
    await clock.advance('54m')
    await ask(t, 'azure/my-deployment')
    expect(auth.seen).toHaveLength(1)
    await clock.advance('2m')
    await ask(t, 'azure/my-deployment')
    await expect.poll(() => auth.seen.length).toBe(2)
  })

  it('sends a key as `api-key`, and uses deployments with an `api-version`', async () => {
    const upstream = await server((_seen, response) => json(response, CHAT))
    const { t } = await gateway({
      az: { provider: 'azure', baseUrl: upstream.url, apiKey: 'the-key', headers: { 'api-version': '2024-10-21' } },
    })
    expect((await ask(t, 'azure/my deployment'.replace(' ', '-'))).status).toBe(200)
    expect(upstream.seen[0]?.path).toBe('/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21')
    expect(upstream.seen[0]?.headers).toMatchObject({ 'api-key': 'the-key' })
    expect(upstream.seen[0]?.headers).not.toHaveProperty('api-version')
  })

  it('fails over when the directory refuses, without a word of the secret', async () => {
    const auth = await server((seen, response) => json(response, { error: 'invalid_client', error_description: seen.body }, 401))
    const upstream = await server((_seen, response) => json(response, CHAT))
    const { t } = await gateway({
      az: { provider: 'azure', baseUrl: `${upstream.url}/openai/v1`, apiKey: registration(auth.url), priority: 0 },
      spare: { provider: 'azure', baseUrl: `${upstream.url}/openai/v1`, apiKey: 'the-key', priority: 1 },
    })
    expect((await ask(t, 'azure/d')).status).toBe(200)
    await t.untilSettled()
    const attempts = t.settled[0]?.ctx.attempts ?? []
    expect(attempts).toHaveLength(2)
    expect(attempts[0]?.error?.code).toBe('credential_unavailable')
    expect(JSON.stringify(attempts.map(({ error }) => error?.message ?? ''))).not.toContain('canary')
  })
})
