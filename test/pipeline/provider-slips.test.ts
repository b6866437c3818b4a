// A provider whose `refused` throws: the request ends, and no plugin is blamed.
import { expect, it } from 'vitest'
import { createTestGateway, raw, scriptedUpstream } from '../../adapters/testing/index.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { defineProvider } from '../../core/providers.ts'
import { recordingLog } from '../support/recording-log.ts'

it('a provider that fails at a refused credential is not the fault of a plugin around the attempt', async () => {
  const upstream = await scriptedUpstream()
  upstream.script(raw(401, '{"error":{"message":"no"}}'))
  const acme = defineProvider({
    ...{ id: 'acme', aliases: [], baseUrl: upstream.baseUrl('chat'), dialects: { chat: '' }, quirks: {}, needsKey: false },
    caps: () => ({ family: 'acme' }),
    dialectFor: () => 'chat',
    authorize() {},
    refused() {
      throw new Error('the token cache is gone')
    },
  })
  const around = definePlugin({
    name: 'around',
    setup: (gateway) => gateway.hook('attempt', (_ctx, _candidate, next) => next().then((r) => r)),
  })
  const log = recordingLog()
  const t = await createTestGateway({
    plugins: [around()],
    config: { providers: [acme], connections: { acme: { provider: 'acme' } } },
    ports: { log },
  })
  const response = await t.post('/v1/chat/completions', { model: 'acme/m', messages: [{ role: 'user', content: 'hi' }] })
  expect(response.status).toBe(500)
  const messages = log.lines.map(({ message }) => message)
  expect(messages).toContain('attempt.failed')
  expect(messages).not.toContain('plugin.error')
  await t.close()
  await upstream.close()
})
