// GET /v1/audio/voices: the voices of the connected text-to-speech providers.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { decodeUtf8, encodeUtf8 } from '../../core/text/bytes.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { GOOGLE_VOICES, OPENAI_VOICES } from './static-voices.ts'

const TIMEOUT_MS = 10_000
/** The most pages of a vendor's list. */
const MOST_PAGES = 10

const voice = z.looseObject({
  id: z.string(),
  name: z.string(),
  provider: z.string(),
  language: z.string().optional(),
  gender: z.string().optional(),
  preview_url: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
})
type Voice = z.output<typeof voice>

const listed = z.looseObject({
  voices: z.array(
    z.looseObject({
      voice_id: z.string(),
      name: z.string(),
      labels: z.record(z.string(), z.unknown()).nullish(),
      preview_url: z.string().nullish(),
    }),
  ),
  has_more: z.boolean().nullish(),
  next_page_token: z.string().nullish(),
})

export const voices = definePlugin({
  name: 'voices',
  requires: ['accounts', 'configuration'],
  setup(gateway) {
    const accounts = gateway.use('accounts')
    const calls = gateway.use('directCalls')
    const { providers } = gateway.use('configuration')
    const codecOf = (id: string) => providers.find((provider) => provider.id === id)?.operations?.speech?.codec

    async function elevenlabs(connection: Connection): Promise<Voice[]> {
      const found: Voice[] = []
      let page = ''
      for (let pages = 0; pages < MOST_PAGES; pages++) {
        const answer = await calls.get(connection, `/v2/voices?page_size=100${page}`, TIMEOUT_MS)
        if (answer.status !== 200) throw new Error(`The voices could not be listed: status ${answer.status}.`)
        const { voices: some, has_more, next_page_token: token } = listed.parse(JSON.parse(decodeUtf8(answer.body)))
        for (const { voice_id: id, name, labels, preview_url: preview } of some) {
          const { language, gender } = labels ?? {}
          found.push({
            id,
            name,
            provider: connection.provider,
            ...(typeof language === 'string' ? { language } : {}),
            ...(typeof gender === 'string' ? { gender } : {}),
            ...(preview ? { preview_url: preview } : {}),
          })
        }
        if (!has_more || !token) break
        page = `&next_page_token=${encodeURIComponent(token)}`
      }
      return found
    }

    /** One list per provider; a provider that does not answer is left out, with a warning. */
    async function ofProvider(ctx: RequestContext<'speech'>, connection: Connection): Promise<Voice[]> {
      const { provider } = connection
      const codec = codecOf(provider)
      if (codec === 'openai') return OPENAI_VOICES.map((id) => ({ id, name: id[0]?.toUpperCase() + id.slice(1), provider }))
      if (codec === 'google')
        return Object.entries(GOOGLE_VOICES).map(([id, style]) => ({ id, name: id, provider, labels: { style } }))
      if (codec !== 'elevenlabs') return []
      try {
        return await elevenlabs(connection)
      } catch (error) {
        gateway.log.warn('voices.not_listed', { provider, error: String(error) })
        ctx.warn(`voices_not_listed:${provider}`)
        return []
      }
    }

    gateway.data({
      method: 'GET',
      path: '/v1/audio/voices',
      operation: 'speech',
      models: 'none',
      scope: 'none',
      keyRequired: false,
      summary: 'Voices for `/v1/audio/speech`, of the connected providers. `?provider=` limits the list.',
      response: z.looseObject({ object: z.literal('list'), data: z.array(voice) }),
      async handler(ctx): Promise<Result> {
        const wanted = new URLSearchParams(ctx.ingress?.query ?? '').get('provider')
        const byProvider = new Map<string, Connection>()
        for (const { connection, orgId, enabled } of accounts.list()) {
          const { provider } = connection
          const mine = enabled && orgId === ctx.principal.orgId && (wanted === null || wanted === provider)
          if (mine && !byProvider.has(provider)) byProvider.set(provider, connection)
        }
        const data = (await Promise.all([...byProvider.values()].map((connection) => ofProvider(ctx, connection)))).flat()
        const headers = ['content-type', 'application/json; charset=utf-8']
        return { kind: 'raw', status: 200, headers, body: encodeUtf8(JSON.stringify({ object: 'list', data })) }
      },
    })
  },
})

export default voices
