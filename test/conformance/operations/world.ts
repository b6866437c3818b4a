// The setup of the operations' matrix: one scripted vendor behind a listening gateway, and two connections to it for each provider. The
// clock moves only in cells whose vendor is silent.
import { operations } from '../../../adapters/operations/index.ts'
import { OPERATIONS } from '../../../adapters/providers/operations.ts'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { ConnectionConfig } from '../../../core/config/define.ts'
import type { MediaOperation } from '../../../core/types/operations/operations.ts'
import { freshAccounts } from '../../support/fresh-accounts.ts'

export interface CodecCase {
  readonly operation: MediaOperation
  readonly codec: string
  readonly provider: string
  /** With the provider. */
  readonly model: string
}

/** Serves every operation in OpenAI’s format; it is no row of the registry. */
const CUSTOM = 'self-hosted'
/** Vendors whose models choose the path. */
const MODELS: Readonly<Record<string, string>> = {
  'images/bfl': 'flux-1',
  'images/google': 'imagen-4',
  'speech/google': 'gemini-tts',
}
/** Vendors whose paths carry the version themselves. */
const OWN_VERSION = new Set(['cohere', 'brave', 'elevenlabs', 'google', 'google-pse', 'stability'])

/** Every codec of every operation, at the provider of its name or the first one that uses it. */
export const CODEC_CASES: readonly CodecCase[] = operations.flatMap(({ id, codecs }) =>
  Object.keys(codecs).map((codec) => {
    const using = Object.keys(OPERATIONS).filter((name) => OPERATIONS[name]?.[id]?.codec === codec)
    const provider = using.find((name) => name === codec) ?? using[0] ?? CUSTOM
    const only = OPERATIONS[provider]?.[id]?.models?.[0]?.replaceAll('*', '-1')
    return { operation: id, codec, provider, model: `${provider}/${only ?? MODELS[`${id}/${codec}`] ?? 'model-1'}` }
  }),
)

export const IDLE_MS = 5000

export interface World {
  readonly t: TestGateway
  readonly vendor: ScriptedUpstream
  readonly clock: FakeClock
  readonly url: string
  close(): Promise<void>
}

/** The credential of a provider's connection. */
export function keyOf(provider: string, which: 'first' | 'second'): string {
  return `sk-${provider}-${which}`
}

export async function startWorld(): Promise<World> {
  const vendor = await scriptedUpstream()
  const clock = fakeClock()
  const t = await createTestGateway({
    config: { connections: connectionsTo(vendor) },
    plugins: [freshAccounts()],
    env: { UPSTREAM_IDLE_TIMEOUT_MS: String(IDLE_MS) },
    ports: { clock },
  })
  const { url } = await t.listen()
  return {
    t,
    vendor,
    clock,
    url,
    async close() {
      await t.close()
      await vendor.close()
    },
  }
}

function connectionsTo(vendor: ScriptedUpstream): Record<string, ConnectionConfig> {
  const providers = [...new Set(CODEC_CASES.map(({ provider }) => provider))]
  return Object.fromEntries(
    providers.flatMap((provider) =>
      (['first', 'second'] as const).map((which, at) => [
        `${provider}-${which}`,
        {
          provider,
          baseUrl: OWN_VERSION.has(provider) ? vendor.baseUrl('chat').replace(/\/v1$/, '') : vendor.baseUrl('chat'),
          apiKey: keyOf(provider, which),
          priority: at + 1,
          ...(provider === CUSTOM ? { wireFormat: 'chat' as const } : {}),
        },
      ]),
    ),
  )
}
