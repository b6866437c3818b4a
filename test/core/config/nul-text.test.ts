// U+0000 in the file: one engine's database cannot store it, so it is an error in the file on both, with its place.
import { describe, expect, it } from 'vitest'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { SITES } from '../../support/sites.ts'

const FILES: [config: object, path: string][] = [
  [{ keys: { ci: { label: 'a\0b' } } }, 'keys.ci.label'],
  [{ keys: { ci: { allowedModels: ['x/y', 'x/\0'] } } }, 'keys.ci.allowedModels.1'],
  [{ webhooks: { main: { url: 'https://example.com/\0' } } }, 'webhooks.main.url'],
  [{ settings: { guardrails: { keywords: { deny: ['\0'] } } } }, 'settings.guardrails.keywords.deny.0'],
  [{ settings: { 'guardrails.keywords': { 'de\0ny': [] } } }, 'settings.guardrails.keywords.deny'],
  [{ options: { host: '\0' } }, 'options.host'],
]

describe.each(SITES)('%s', (_, missing, open) => {
  it.skipIf(missing !== null)('a file that holds it is refused at the start and at a reload, by its path', async () => {
    const site = await open()
    try {
      const t = await createTestGateway({ env: site.env })
      for (const [config, path] of FILES) {
        const line = `\n  ${path}: must not hold U+0000`
        await expect(createTestGateway({ env: site.env, config: config as GatewayConfig }), path).rejects.toThrow(line)
        await expect(t.gateway.reload(config), path).rejects.toThrow(line)
      }
      await t.close()
    } finally {
      await site.end()
    }
  })
})
