// Decodes the wire request. Unknown fields are kept in ext and sent back to Gemini.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { HeaderBag } from '../../../../core/types/ports/ports.ts'
import type { CanonicalRequest, JsonObject, Operation } from '../../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import { booleanField, camelFields, textField } from '../fields.ts'
import { countedFields } from './count-tokens.ts'
import { decodeConfig, decodeServiceTier } from './decode-config.ts'
import { decodeContents, decodeSystem } from './decode-contents.ts'
import { decodeToolConfig, decodeTools } from './decode-tools.ts'

/** Model and operation are in the path; on the chat route they are in the body. */
export function decodeRequest(
  body: WireBody,
  headers: HeaderBag,
  path: { model?: string; stream?: boolean; operation: Operation },
): CanonicalRequest {
  const { model, stream, contents, systemInstruction, tools, toolConfig, generationConfig, serviceTier, ...rest } =
    path.operation === 'count_tokens' ? countedFields(body) : camelFields(body.json() as JsonObject)
  const named = path.model ?? textField(model, 'model')
  if (named === undefined || named === '') throw GatewayError.invalid('model', '`model` is required.')
  const request: CanonicalRequest = {
    model: named,
    stream: path.stream ?? booleanField(stream, 'stream') ?? false,
    source: 'generate_content',
    system: decodeSystem(systemInstruction),
    messages: decodeContents(contents, body),
    tools: [],
    sampling: {},
    headers: {},
    ext: {},
  }
  const config = decodeConfig(generationConfig, request)
  decodeTools(tools, request)
  const calling = decodeToolConfig(toolConfig, request)
  const tier = decodeServiceTier(serviceTier)
  if (tier !== undefined) request.serviceTier = tier
  const idempotencyKey = headers.get('idempotency-key')
  if (idempotencyKey !== null) request.headers.idempotencyKey = idempotencyKey
  const ext: JsonObject = {
    ...rest,
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...(Object.keys(calling).length === 0 ? {} : { toolConfig: calling }),
  }
  if (Object.keys(ext).length > 0) request.ext = { generate_content: ext }
  return request
}
