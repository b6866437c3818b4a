// A model id selects a model and never another path at the upstream. One rule applies to every entry of the data plane, and to models
// that configuration and headers name.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, reply, type TestGateway, text } from '../../adapters/testing/index.ts'
import { checkedModelId, modelIdFault } from '../../core/models/model-id.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { ENDPOINTS } from './support/endpoints.ts'
import { envelopeOf, routeDialect } from './support/envelope.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const WALKS = [
  ...['flash/../ultra', '../ultra', 'flash/..', './flash', 'a/./b', 'a//b', 'flash/', '/flash', '..', '.'],
  ...['flash\\..\\ultra', 'flash?key=1', 'flash#x', 'flash\u0000', 'flash\u0085', 'flash\ud800', 'flash\n'],
  ...[
    'flash/%2e%2e/ultra',
    'flash%2F..%2fultra',
    'flash/.%2E/ultra',
    'a%252fb',
    'a%25252Eb',
    'a%u002e',
    'a%c0%ae',
    'a%5cb',
    'a/..;x/b',
  ],
]
/** A path is decoded once, so the upstream gets the same name. */
const named = (path: string, marked: string, model: string) => {
  if (!path.includes(marked)) return path
  try {
    return path.replace(marked, encodeURIComponent(model))
  } catch {
    return null
  }
}

it('no endpoint takes a name that walks a path: 400 for the model, before access is judged and with no call upstream', async () => {
  const t = await createTestGateway({ upstream: [text('fine')] })
  open.push(t)
  for (const endpoint of ENDPOINTS)
    for (const walk of WALKS)
      for (const model of [`generate_content/${walk}`, `nobody/${walk}`]) {
        const { path, body } = endpoint.request('chat/marked')
        const at = named(named(path, 'chat/marked', model) ?? '', 'chat%2Fmarked', model)
        if (at === null || at === '') continue
        const sent = 'model' in body ? { ...body, model } : body
        const response = await t.post(at, sent)
        const answer = await response.text()
        expect([endpoint.name, model, response.status]).toEqual([endpoint.name, model, 400])
        expect(envelopeOf(routeDialect(endpoint), answer)).toMatchObject({ type: 'invalid_request_error', param: 'model' })
      }
  expect(t.upstream.requests).toEqual([])
})

it('a name with a part that walks is refused whatever is around it, and vendors’ names are not', () => {
  const around = ['', 'a', 'a/b', 'models/x-1.5', 'org/name:tag', '@cf/meta']
  for (const before of around)
    for (const after of around)
      for (const part of ['..', '.', '', '%2e%2E', '%2f', '\\', '?', '#', '\u007f']) {
        const name = [before, part, after].filter((one, at) => at === 1 || one !== '').join('/')
        expect([name, modelIdFault(name)]).toEqual([name, expect.any(String)])
        expect(() => checkedModelId(name)).toThrow(/`model` /)
      }
  for (const name of [
    'gpt-5.1',
    '@cf/meta/llama-3.1-8b',
    'meta-llama/Llama-3:free',
    'a..b',
    '...',
    'x/.hidden',
    'ünï/模型',
    'm 1',
    '100%',
  ])
    expect([name, modelIdFault(name)]).toEqual([name, null])
})

it('a virtual model cannot hold such a target', async () => {
  const t = await createTestGateway({})
  open.push(t)
  const response = await t.post('/api/virtual-models', {
    name: 'fast',
    strategy: 'failover',
    targets: ['generate_content/flash/../ultra'],
  })
  expect(response.status).toBe(400)
})

it('a target that a plugin made is refused before a call upstream', async () => {
  const t = await createTestGateway({
    upstream: [reply({ text: 'no' })],
    plugins: [
      definePlugin({
        name: 'walker',
        setup(gateway) {
          gateway.hook(
            'resolve',
            () => ({
              virtualModel: null,
              strategy: 'single',
              targets: [{ provider: 'generate_content', model: 'a/../b', connectionId: null, weight: 1 }],
            }),
            { order: 'pre' },
          )
        },
      })(),
    ],
  })
  open.push(t)
  const { path, body } = (ENDPOINTS[0] as (typeof ENDPOINTS)[number]).request('chat/m')
  const response = await t.post(path, body)
  expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'model' } }])
  expect(t.upstream.requests).toEqual([])
})
