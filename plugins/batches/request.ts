// Reads the body of POST /v1/batches: items in OpenAI's form (`custom_id`, `url`, `body`) or Anthropic's (`custom_id`, `params`).
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/types/request/canonical.ts'

export const MOST_ITEMS = 1000
/** The routes that items may call, and the model of a body that names none. */
const URLS: Readonly<Record<string, string | null>> = {
  '/v1/chat/completions': null,
  '/v1/completions': null,
  '/v1/messages': null,
  '/v1/responses': null,
  '/v1/embeddings': null,
  '/v1/moderations': 'openai/omni-moderation-latest',
  '/v1/rerank': null,
}

const CUSTOM_ID = /^[\w-]{1,64}$/

export const batchBody = z.looseObject({
  requests: z
    .array(
      z.looseObject({
        custom_id: z.string().regex(CUSTOM_ID).describe('1 to 64 letters, digits, `_` and `-`; unique in the batch.'),
        url: z.enum(Object.keys(URLS) as [string, ...string[]]).optional(),
        body: z.looseObject({}).optional(),
        params: z.looseObject({}).optional().describe('A body for `/v1/messages`, instead of `url` and `body`.'),
      }),
    )
    .min(1)
    .max(MOST_ITEMS),
  endpoint: z.string().optional().describe('The `url` of items that name none; default `/v1/chat/completions`.'),
  metadata: z.record(z.string(), z.string()).nullish(),
  completion_window: z.literal('24h').nullish(),
})

export interface BatchItem {
  readonly customId: string
  readonly url: string
  readonly model: string
  readonly body: JsonObject
}

export interface BatchRequest {
  readonly endpoint: string
  readonly metadata: JsonObject | null
  readonly items: readonly BatchItem[]
}

/** @throws GatewayError 400 naming the member. */
export function batchRequest(json: JsonObject): BatchRequest {
  const { requests, endpoint, metadata, completion_window: window } = json
  if (window !== undefined && window !== null && window !== '24h')
    throw GatewayError.invalid('completion_window', '`completion_window` must be `24h`.')
  if (endpoint !== undefined && endpoint !== null) checkedUrl(endpoint, 'endpoint')
  if (requests === undefined && typeof json.input_file_id === 'string')
    throw GatewayError.invalid('input_file_id', 'There are no files here: send the lines of the file in `requests`.')
  if (!Array.isArray(requests) || requests.length === 0 || requests.length > MOST_ITEMS)
    throw GatewayError.invalid('requests', `\`requests\` must be a list of 1 to ${MOST_ITEMS} items.`)
  if (metadata !== undefined && metadata !== null && !isStrings(metadata))
    throw GatewayError.invalid('metadata', '`metadata` must be an object of strings.')
  const common = typeof endpoint === 'string' ? endpoint : '/v1/chat/completions'
  const ids = new Set<string>()
  const items = requests.map((one, at) => {
    const item = itemOf(one, `requests.${at}`, common)
    if (ids.has(item.customId))
      throw GatewayError.invalid(`requests.${at}.custom_id`, `The custom_id \`${item.customId}\` occurs twice in this batch.`)
    ids.add(item.customId)
    return item
  })
  return {
    endpoint: typeof endpoint === 'string' ? endpoint : (items[0]?.url as string),
    metadata: metadata as JsonObject | null,
    items,
  }
}

function itemOf(given: unknown, at: string, common: string): BatchItem {
  if (!isObject(given)) throw GatewayError.invalid(at, `\`${at}\` must be an object.`)
  const { custom_id: customId, params, method, url } = given
  if (typeof customId !== 'string' || !CUSTOM_ID.test(customId))
    throw GatewayError.invalid(`${at}.custom_id`, `\`${at}.custom_id\` must be 1 to 64 letters, digits, \`_\` or \`-\`.`)
  if (method !== undefined && method !== null && method !== 'POST')
    throw GatewayError.invalid(`${at}.method`, `\`${at}.method\` must be \`POST\`.`)
  const path = params === undefined ? checkedUrl(url ?? common, `${at}.url`) : '/v1/messages'
  const body = params ?? given.body
  const member = params === undefined ? `${at}.body` : `${at}.params`
  if (!isObject(body)) throw GatewayError.invalid(member, `\`${member}\` must be an object.`)
  if (body.stream === true) throw GatewayError.invalid(`${member}.stream`, 'An item of a batch cannot be streamed.')
  const model = body.model ?? URLS[path]
  if (typeof model !== 'string' || model === '') throw GatewayError.invalid(`${member}.model`, `\`${member}.model\` is required.`)
  return { customId, url: path, model, body }
}

function checkedUrl(url: unknown, at: string): string {
  if (typeof url === 'string' && Object.hasOwn(URLS, url)) return url
  throw GatewayError.invalid(
    at,
    `\`${at}\` must be one of ${Object.keys(URLS)
      .map((one) => `\`${one}\``)
      .join(', ')}.`,
  )
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isStrings(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((one) => typeof one === 'string')
}
