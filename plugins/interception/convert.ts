// Answers an intercepted inference request through the gateway: the whole pipeline runs, under the source `mitm`.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { wireBody } from '../../core/json/wire-body.ts'
import type { OwnCalls } from '../../core/types/plugin/own-calls.ts'
import type { ActsFor } from '../../core/types/ports/ports.ts'
import { answerSink } from './answer-sink.ts'
import { aliasedPath, type Inference } from './table.ts'

export interface Conversion {
  readonly calls: OwnCalls
  /** Returns the client key of this text, or null. */
  keyOf(text: string): { readonly id: number; readonly orgId: number | null } | null
  /** Returns the target that an operator chose for a model; undefined: none. */
  alias(model: string): string | undefined
}

const MAX_BODY = 64 << 20
/** Headers that a decoder of the gateway reads. The tool's own credential is the vendor's and goes no further. */
const PASSED = /^(?:accept|user-agent|anthropic-(?:version|beta)|openai-.*|x-gateway-.*|idempotency-key)$/

export async function convert(req: IncomingMessage, res: ServerResponse, to: Inference, conversion: Conversion): Promise<void> {
  const { calls, alias } = conversion
  const body = aliasedBody(await bodyOf(req), alias)
  const sink = answerSink(res)
  const actsFor = callerOf(req, conversion)
  await calls.stream({ path: aliasedPath(to.path, alias), query: queryOf(to), body, actsFor, headers: passed(req) }, sink)
  if (!res.writableEnded && !sink.gone) res.destroy()
}

/** Without a key of the gateway the tool is an anonymous caller: it is refused where keys are required. */
function callerOf({ headers }: IncomingMessage, { keyOf }: Conversion): ActsFor {
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  for (const text of [bearer, headers['x-api-key'], headers['x-goog-api-key']]) {
    const key = typeof text === 'string' && text.startsWith('gw_') ? keyOf(text) : null
    if (key !== null) return { orgId: key.orgId, keyId: key.id, source: 'mitm' }
  }
  return { orgId: null, keyId: null, source: 'mitm' }
}

/** Google's clients may have their key in the query. */
function queryOf({ query }: Inference): string {
  return query
    .split('&')
    .filter((part) => !part.startsWith('key='))
    .join('&')
}

function passed({ rawHeaders }: IncomingMessage): string[] {
  const list: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (PASSED.test(name)) list.push(name, rawHeaders[i + 1] as string)
  }
  return list
}

/** A body that is no JSON goes to the pipeline as it is, which refuses it in the tool's own dialect. */
function aliasedBody(bytes: Uint8Array, alias: Conversion['alias']): Uint8Array {
  try {
    const body = wireBody(bytes)
    const model = body.get('model')
    const other = typeof model === 'string' ? alias(model) : undefined
    if (other === undefined) return bytes
    body.set('model', other)
    const whole = body.whole()
    return typeof whole === 'string' ? Buffer.from(whole) : whole
  } catch {
    return bytes
  }
}

const DECODERS: Readonly<Record<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

async function bodyOf(req: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY) throw GatewayError.tooLarge(MAX_BODY)
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const encoding = req.headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (encoding === 'identity') return bytes
  const decode = DECODERS[encoding]
  if (decode === undefined)
    throw new GatewayError(
      `A body in the encoding \`${encoding.slice(0, 40)}\` cannot be converted. Send it without an encoding.`,
      {
        status: 415,
        type: 'invalid_request_error',
        code: 'unsupported_media_type',
      },
    )
  return decode(bytes, { maxOutputLength: MAX_BODY }).catch(() => {
    throw GatewayError.invalid(null, `The body is not in the encoding \`${encoding}\`, or it is too large.`)
  })
}
