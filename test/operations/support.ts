// A gateway in front of scripted vendors of every wire format of operations.
import { createTestGateway, type Step, type TestGateway, type TestGatewayOptions } from '../../adapters/testing/index.ts'
import { operationReply } from '../../adapters/testing/operations/vendor.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'

export interface Vendors {
  readonly t: TestGateway
  readonly vendor: ScriptedUpstream
  close(): Promise<void>
}

const ANSWERS: Step = { kind: 'choose', choose: operationReply }

/** One connection per provider of the list, all to the same scripted vendor. `upstream`: its steps; default: it answers. */
export async function vendors(
  providers: readonly string[],
  { upstream = [ANSWERS], ...options }: TestGatewayOptions & { upstream?: Step[] } = {},
): Promise<Vendors> {
  const vendor = await scriptedUpstream(...upstream)
  const base = (provider: string) => vendor.baseUrl(provider === 'google' ? 'generate_content' : 'chat')
  const bare = (provider: string) => base(provider).replace(/\/v1(?:beta)?$/, '')
  const connections = Object.fromEntries(
    providers.map((provider) => [
      provider,
      { provider, baseUrl: OWN_VERSION.has(provider) ? bare(provider) : base(provider), apiKey: `sk-${provider}` },
    ]),
  )
  const t = await createTestGateway({ ...options, config: { connections, ...options.config } })
  return {
    t,
    vendor,
    async close() {
      await t.close()
      await vendor.close()
    },
  }
}

/** Vendors whose paths carry the version themselves. */
const OWN_VERSION = new Set(['cohere', 'brave', 'elevenlabs', 'google-pse', 'stability'])
