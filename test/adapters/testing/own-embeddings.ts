// A provider with a codec of its own: a vendor of embeddings whose wire format no other one has.
import assert from 'node:assert/strict'
import type { OperationContract } from '../../../adapters/testing/operation-contract/options.ts'
import { raw } from '../../../adapters/testing/script.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { defineProvider } from '../../../core/providers.ts'
import type { OperationCodec } from '../../../core/types/operations/operation.ts'
import type { EmbeddingsAnswer } from '../../../core/types/operations/operations.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'

type Codec = OperationCodec<'embeddings'>

const NO_USAGE = { inputTotal: 0, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: 0, estimated: false, raw: null }

export const carefulEmbeddings: Codec = async (request, upstream) => {
  const { model } = upstream
  const reply = await upstream.send({ path: '/vectorize', body: { engine: model, lines: request.input as string[] } })
  const { rows, read } = reply.json().json() as JsonObject
  if (!Array.isArray(rows) || rows.length !== request.input.length || !rows.every(isVector))
    throw GatewayError.protocol('The upstream answered without rows.')
  const input = typeof read === 'number' && Number.isInteger(read) && read >= 0 ? read : 0
  const usage = { ...NO_USAGE, inputTotal: input, total: input }
  return { usage, answer: () => ({ model, usage, vectors: rows }) }
}

/** It trusts the vendor, and forgets the usage. */
export const carelessEmbeddings: Codec = async (request, upstream) => {
  const { model } = upstream
  const reply = await upstream.send({ path: '/vectorize', body: { engine: model, lines: request.input as string[] } })
  const { rows } = JSON.parse(Buffer.from(reply.bytes).toString()) as { rows: number[][] }
  return {
    usage: NO_USAGE,
    answer: (): EmbeddingsAnswer => ({ model, usage: NO_USAGE, vectors: rows.map((row) => row.map((one) => one * 1)) }),
  }
}

function isVector(row: unknown): row is number[] {
  return Array.isArray(row) && row.every((one) => typeof one === 'number')
}

export function ownEmbeddings(codec: Codec): OperationContract {
  return {
    provider: defineProvider({
      id: 'lines',
      aliases: [],
      baseUrl: 'https://lines.example.com/api',
      dialects: {},
      quirks: {},
      needsKey: true,
      operations: { embeddings: { codec } },
      caps: () => ({ family: 'lines' }),
      dialectFor: (_request, caller) => caller,
      authorize: (wire, _dialect, secret) => void wire.headers.push('x-lines-key', secret ?? ''),
    }),
    operation: 'embeddings',
    request: (model) => ({ model, input: ['one', 'two'] }),
    vendor: () => raw(200, JSON.stringify({ rows: [[1, 0.5], [0]], read: 6 })),
    received([call]) {
      assert.equal(call?.path, '/api/vectorize')
      assert.deepEqual(call.json, { engine: 'model-1', lines: ['one', 'two'] })
    },
    answered({ json }) {
      const vectors = (json?.data as { embedding: number[] }[]).map(({ embedding }) => embedding)
      assert.deepEqual(vectors, [[1, 0.5], [0]])
    },
    usage: { inputTotal: 6 },
  }
}
