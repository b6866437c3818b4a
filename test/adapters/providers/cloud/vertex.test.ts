// Vertex over real HTTP: tokens of a service account that are renewed early and once, and the addresses of the publishers.
import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { ask, gateway, json, server, tokens } from './support.ts'

describe('Vertex', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const account = (tokenUri: string) =>
    JSON.stringify({
      type: 'service_account',
      project_id: 'my-project',
      client_email: 'robot@my-project.iam.gserviceaccount.com',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      private_key_id: 'kid-1',
      token_uri: `${tokenUri}/token`,
      location: 'europe-west4',
    })
  const GEMINI = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }
  const CLAUDE = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const CHAT = { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] }

  it('serves each publisher at its own address in its own dialect', async () => {
    const auth = await tokens()
    const upstream = await server(({ path }, response) =>
      json(response, path.includes('anthropic') ? CLAUDE : path.includes('google') ? GEMINI : CHAT),
    )
    const { t } = await gateway({ gcp: { provider: 'vertex', baseUrl: `${upstream.url}/v1`, apiKey: account(auth.url) } })
    const models = ['gemini-2.5-pro', 'claude-sonnet-4-5@20250929', 'meta/llama-4-maverick', 'mistral-medium-3']
    for (const model of models) expect((await ask(t, `vertex/${model}`)).status, model).toBe(200)
    const place = '/v1/projects/my-project/locations/europe-west4'
    expect(upstream.seen.map(({ path }) => path)).toEqual([
      `${place}/publishers/google/models/gemini-2.5-pro:generateContent`,
      `${place}/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict`,
      `${place}/endpoints/openapi/chat/completions`,
      `${place}/publishers/mistralai/models/mistral-medium-3:rawPredict`,
    ])
    const claude = JSON.parse(upstream.seen[1]?.body ?? '')
    expect(claude).toMatchObject({ anthropic_version: 'vertex-2023-10-16' })
    expect(claude).not.toHaveProperty('model')
    expect(upstream.seen[1]?.headers).not.toHaveProperty('anthropic-version')
    expect(new Set(upstream.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer token-1']))
    const form = new URLSearchParams(auth.seen[0]?.body)
    const assertion = form.get('assertion') as string
    await jwtVerify(assertion, publicKey, { currentDate: new Date(Date.UTC(2026, 5, 1)), audience: `${auth.url}/token` })
    expect(decodeJwt(assertion).scope).toBe('https://www.googleapis.com/auth/cloud-platform')
  })

  it('gets one token for parallel requests, and renews it early, once', async () => {
    const auth = await tokens()
    const upstream = await server((_seen, response) => json(response, GEMINI))
    const { t, clock } = await gateway({ gcp: { provider: 'vertex', baseUrl: `${upstream.url}/v1`, apiKey: account(auth.url) } })
    await Promise.all(Array.from({ length: 20 }, () => ask(t, 'vertex/gemini-2.5-pro')))
    expect(auth.seen).toHaveLength(1)
    await clock.advance('56m')
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(t, 'vertex/gemini-2.5-pro')))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    await expect.poll(() => auth.seen.length).toBe(2)
    await expect
      .poll(async () => (await ask(t, 'vertex/gemini-2.5-pro')) && upstream.seen.at(-1)?.headers.authorization)
      .toBe('Bearer token-2')
    expect(auth.seen).toHaveLength(2)
  })
})
