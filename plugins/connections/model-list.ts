// Fetches the model list of a connection's provider: the cheapest call, and it books nothing.
import { z } from 'zod'
import { entryOf } from '../../core/collections/entry-of.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { DirectAnswer } from '../../core/services.ts'
import { decodeUtf8 } from '../../core/text/bytes.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { BuiltInDialect } from '../../core/types/request/canonical.ts'

/** As many models as one page has, for the complete list. */
const PATHS: Readonly<Record<BuiltInDialect, readonly [path: string, page: string]>> = {
  chat: ['/models', ''],
  responses: ['/models', ''],
  messages: ['/v1/models', '?limit=1000'],
  generate_content: ['/v1beta/models', '?pageSize=1000'],
}
const TIMEOUT_MS = 10_000
const NO_SUCH_LIST = 404
const MAX_MODELS = 5000
/** Valid characters of a model id. */
const MODEL_ID = /^[\x21-\x7e]{1,256}$/

const openaiList = z.object({ data: z.array(z.object({ id: z.string() })) }).transform(({ data }) => data.map(({ id }) => id))
const googleList = z
  .object({ models: z.array(z.object({ name: z.string() })) })
  .transform(({ models }) => models.map(({ name }) => name.replace(/^models\//, '')))
const anyList = z.union([openaiList, googleList])

/** Provides `modelListProbe`, for plugins that watch accounts, and `vendorModels`. */
export function provideModelList(gateway: PluginGateway): void {
  const configuration = gateway.use('configuration')
  const directCalls = gateway.use('directCalls')
  /** null: the provider answers without an upstream, so there is nothing to call. */
  const ask = (connection: Connection, whole: boolean): Promise<DirectAnswer> | null => {
    const provider = configuration.provider(connection.provider)
    if (provider.answer !== undefined && connection.baseUrl === null) return null
    const dialect = connection.wireFormat ?? Object.keys(provider.dialects)[0] ?? 'chat'
    const list = entryOf(PATHS, dialect)
    if (list === undefined) return null
    const [path, page] = list
    return directCalls.get(connection, whole ? path + page : path, TIMEOUT_MS)
  }
  gateway.provide('modelListProbe', {
    status: async (connection: Connection) => (await ask(connection, false))?.status ?? NO_SUCH_LIST,
  })
  gateway.provide('vendorModels', {
    async list(connection: Connection) {
      const answer = await ask(connection, true)
      if (answer === null) return []
      const { status, body } = answer
      if (status < 200 || status > 299) throw GatewayError.upstream(status, `The list of models answered with status ${status}.`)
      return idsIn(body)
    },
  })
}

/** @throws GatewayError when the body is not a list of models. */
function idsIn(body: Uint8Array): string[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(decodeUtf8(body))
  } catch {}
  const ids = anyList.safeParse(parsed)
  if (!ids.success) throw GatewayError.protocol('The list of models is none.')
  return [...new Set(ids.data)].filter((id) => MODEL_ID.test(id)).slice(0, MAX_MODELS)
}
