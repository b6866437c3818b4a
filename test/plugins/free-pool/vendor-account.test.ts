// Errors of a shared connection never name the operator's account at the vendor to another organization, in answers and in its log.
import { afterEach, expect, it } from 'vitest'
import { broken, fail, raw } from '../../../adapters/testing/script.ts'
import { preset } from '../../../plugins/preset.ts'
import { type PoolSite, poolSite } from './support.ts'

let s: PoolSite
afterEach(() => s.t.close())

const UUID = '0b5b1c1e-8a41-4f0e-9d5c-6f2f3a3b7c11'
/** An error's text, and its part that names the account. */
const SAID: readonly (readonly [text: string, id: string])[] = [
  ['Rate limit reached for m in organization org-aBcD1234efGh5678 on tokens per min (TPM): Limit 30000.', 'org-aBcD1234efGh5678'],
  ['Rate limit reached for m in organization `org_01jqxyzabc8efg` service tier `on_demand`.', 'org_01jqxyzabc8efg'],
  ['Project `proj_Q1w2E3r4T5y6` does not have access to model m.', 'proj_Q1w2E3r4T5y6'],
  [`This request would exceed your organization (${UUID})'s rate limit of 50,000 tokens.`, UUID],
  [`Organization ${UUID} is disabled.`, UUID],
  ["Permission denied: Consumer 'project_number:123456789012' has been suspended.", '123456789012'],
  ['Quota exceeded in projects/acme-prod-4711/locations/us-central1.', 'acme-prod-4711'],
  ['Vertex AI API has not been used in project 123456789012 before or it is disabled.', '123456789012'],
  [
    'User: arn:aws:iam::210987654321:user/acme-gateway is not authorized to perform: bedrock:InvokeModel',
    '210987654321:user/acme',
  ],
  [`The resource /subscriptions/${UUID}/resourceGroups/acme-rg was not found.`, UUID],
  ['The key belongs to user-Xy12Zt34Qp56 (ops@acme.example).', 'ops@acme.example'],
  ['The key belongs to user-Xy12Zt34Qp56.', 'user-Xy12Zt34Qp56'],
]
const ASKED = [
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  ['/v1/messages', { max_tokens: 40, messages: [{ role: 'user', content: 'hi' }] }],
  ['/v1/responses', { input: 'hi' }],
] as const

/** Without the plugin that leaves a failing account alone. */
const unlocked = () =>
  preset().filter((plugin) => !('name' in plugin && ['organizations', 'resilience', 'policy'].includes(plugin.name)))

it.each(['chat', 'messages', 'responses', 'generate_content'])('whatever a %s upstream says', async (dialect) => {
  s = await poolSite({ shared: [dialect], config: { plugins: unlocked() } })
  const told: string[] = []
  let failed = 0
  for (const [text, id] of SAID) {
    const error = { message: text, type: `bad ${text}`, code: text, param: text, status: text }
    for (const step of [
      fail(400, { message: text }),
      fail(429, { message: text }),
      fail(500, { message: text }),
      raw(400, JSON.stringify({ error })),
      broken({ text: 'fine, thank you' }, 4, { message: text, status: 500 }),
    ])
      for (const [path, body] of ASKED)
        for (const stream of [false, true]) {
          s.t.upstream.script(step)
          const answer = await s.t.post(path, { model: 'gateway/free', stream, ...body }, { 'x-org': '7' })
          const seen = await answer.text()
          if (/error/.test(seen)) failed++
          if (seen.includes(id)) told.push(`${path} ${stream} ${answer.status} ${id}`)
        }
  }
  expect(s.t.upstream.requests).toHaveLength(360)
  expect(failed).toBeGreaterThan(300)
  expect(told).toEqual([])
  await s.t.gateway.committed()
  const log = await s.api<{ data: { id?: string; request_id?: string }[] }>(7, '/api/logs?limit=200')
  const shown = JSON.stringify(log)
  expect(SAID.filter(([, id]) => shown.includes(id))).toEqual([])
})
