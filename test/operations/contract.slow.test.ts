// Every codec of every operation passes the contract that authors of codecs run.
import { describe, expect, it } from 'vitest'
import { operations } from '../../adapters/operations/index.ts'
import { builtInProviders } from '../../adapters/providers/index.ts'
import { operationContract } from '../../adapters/testing/operation-contract/operation-contract.ts'
import type { OperationContract } from '../../adapters/testing/operation-contract/options.ts'
import { operationReply } from '../../adapters/testing/operations/vendor.ts'
import type { MediaOperation } from '../../core/types/operations/operations.ts'
import type { Provider } from '../../core/types/ports/provider.ts'
import { namedBy, OPERATION_CASES, type OperationCase } from '../conformance/operations/requests.ts'
import { checkCarried } from '../conformance/operations/vendor-request.ts'
import { CODEC_CASES, type CodecCase } from '../conformance/operations/world.ts'

/** Members that a codec leaves out, with a warning. */
const LEFT_OUT = ['dropped_speed', 'dropped_temperature']

const USAGE: Readonly<Record<MediaOperation, OperationContract['usage']>> = {
  embeddings: {},
  rerank: {},
  moderations: { inputTotal: 0, outputTotal: 0 },
  ocr: { units: { pages: 1 } },
  images: {},
  speech: { units: { characters: 13, seconds: 1 } },
  transcription: {},
  compact: { inputTotal: 50, outputTotal: 10 },
  completions: { inputTotal: 7, outputTotal: 3 },
  search: { units: { queries: 1 } },
  web_fetch: { units: { pages: 1 } },
}

/** Google reports tokens, so its seconds are not estimated. */
const REPORTED_SPEECH = { units: { characters: 13 } }

function contractOf({ operation, codec, provider, model }: CodecCase): OperationContract {
  const asked = OPERATION_CASES[operation]
  const found = builtInProviders.find(({ id }) => id === provider) ?? builtInProviders.find(({ id }) => id === 'openai')
  return {
    provider: { ...(found as Provider), id: provider, operations: { [operation]: { ...found?.operations?.[operation], codec } } },
    operation,
    model: model.slice(provider.length + 1),
    path: asked.path,
    request: (name) => bodyOf(name, asked),
    vendor: operationReply,
    received: (requests) => checkCarried(requests, asked, LEFT_OUT),
    answered: ({ json, bytes, contentType }) => asked.check({ json, bytes: Buffer.from(bytes), type: contentType }),
    usage: codec === 'google' && operation === 'speech' ? REPORTED_SPEECH : USAGE[operation],
  }
}

function bodyOf(model: string, asked: OperationCase): Record<string, unknown> | FormData {
  const { members, file } = asked
  if (file === undefined) return { ...namedBy(asked, model), ...members }
  const form = new FormData()
  for (const [name, value] of Object.entries({ model, ...members })) form.set(name, String(value))
  form.set(file.field, new Blob([file.content]), 'recording.mp3')
  return form
}

it('covers every codec', () => {
  expect(CODEC_CASES).toHaveLength(operations.flatMap(({ codecs }) => Object.keys(codecs)).length)
})

describe.each(CODEC_CASES)('$operation at $codec', (of) => {
  for (const { name, run } of operationContract(contractOf(of))) it(name, run)
})
