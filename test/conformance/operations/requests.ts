// The request of each operation, with members that vendors have under other names, and what the caller must read in the answer.
import { expect } from 'vitest'
import { SCRIPTED_AUDIO, SCRIPTED_TEXT } from '../../../adapters/testing/operations/audio.ts'
import { SCRIPTED_IMAGE } from '../../../adapters/testing/operations/images.ts'
import { scriptedPage } from '../../../adapters/testing/operations/pages.ts'
import { scriptedVector } from '../../../adapters/testing/operations/vendor.ts'
import type { MediaOperation } from '../../../core/types/operations/operations.ts'

export type Members = Readonly<Record<string, unknown>>

export interface OperationCase {
  readonly path: string
  /** `provider`: the request names the provider and no model. */
  readonly names?: 'provider'
  /** Without the model. */
  readonly members: Members
  /** A form has this file besides the members. */
  readonly file?: { readonly field: string; readonly content: string }
  /** @throws when the caller did not get the vendor's values. */
  check(answer: { json: Members | null; bytes: Buffer; type: string }): void
}

/** Returns the member that chooses the upstream. */
export function namedBy({ names }: OperationCase, model: string): Members {
  return names === 'provider' ? { provider: model.slice(0, model.indexOf('/')) } : { model }
}

const TEXTS = ['a first text', 'and another one']
/** An address, so that no name is looked up. */
const PAGE_URL = 'https://93.184.216.34/a-page'
const SHARED_IMAGE = { b64_json: SCRIPTED_IMAGE }

export const OPERATION_CASES: Readonly<Record<MediaOperation, OperationCase>> = {
  embeddings: {
    path: '/v1/embeddings',
    members: { input: TEXTS, dimensions: 4 },
    check: ({ json }) =>
      expect(json?.data).toEqual(TEXTS.map((text, index) => ({ object: 'embedding', index, embedding: scriptedVector(text) }))),
  },
  rerank: {
    path: '/v1/rerank',
    members: { query: 'which is the longest', documents: ['short', 'the longest of them', 'a middle one'], top_n: 2 },
    check: ({ json }) =>
      expect(json?.results).toEqual([
        { index: 1, relevance_score: 0.19 },
        { index: 2, relevance_score: 0.12 },
      ]),
  },
  moderations: {
    path: '/v1/moderations',
    members: { input: ['a friendly text', 'an attack'] },
    check: ({ json }) =>
      expect(json?.results).toMatchObject([
        { flagged: false, categories: { violence: false } },
        { flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } },
      ]),
  },
  ocr: {
    path: '/v1/ocr',
    members: { document: { type: 'document_url', document_url: 'https://example.com/a.pdf' }, pages: [1] },
    check: ({ json }) => expect(json?.pages).toMatchObject([{ index: 1, markdown: expect.stringContaining('# Page 2') }]),
  },
  images: {
    path: '/v1/images/generations',
    members: { prompt: 'a cat in the sun', n: 2, size: '1024x1024', response_format: 'b64_json' },
    check({ json }) {
      const data = json?.data as Members[]
      expect(data).toHaveLength(2)
      for (const image of data)
        expect('url' in image ? { url: expect.stringMatching(/^https:/) } : SHARED_IMAGE).toEqual(
          'url' in image ? { url: image.url } : { b64_json: image.b64_json },
        )
    },
  },
  speech: {
    path: '/v1/audio/speech',
    members: { input: 'a text to say', voice: 'alloy', speed: 1.5 },
    check({ bytes, type }) {
      expect(type).toMatch(/^audio\/(?:mpeg|wav)$/)
      // A WAV file has a header.
      expect(bytes.subarray(type === 'audio/wav' ? 44 : 0)).toEqual(SCRIPTED_AUDIO)
    },
  },
  transcription: {
    path: '/v1/audio/transcriptions',
    members: { language: 'en', response_format: 'json', temperature: 0.5 },
    file: { field: 'file', content: 'the bytes of a recording' },
    check: ({ json }) => expect(json?.text).toBe(SCRIPTED_TEXT),
  },
  compact: {
    path: '/v1/responses/compact',
    members: { input: [{ type: 'message', role: 'user', content: 'a long conversation' }] },
    check: ({ json }) =>
      expect(json?.output).toMatchObject([{ role: 'user', content: 'a long conversation' }, { type: 'compaction' }]),
  },
  completions: {
    path: '/v1/completions',
    members: { prompt: 'a text to go on', suffix: 'until here', max_tokens: 9 },
    check: ({ json }) => expect(json?.choices).toMatchObject([{ index: 0, text: '…onuntil', finish_reason: 'stop' }]),
  },
  search: {
    path: '/v1/search',
    members: { query: 'wide rivers', max_results: 1 },
    check: ({ json }) =>
      expect(json?.results).toMatchObject([{ position: 1, title: 'Result 1', url: 'https://www.example.com/1' }]),
  },
  web_fetch: {
    path: '/v1/web/fetch',
    names: 'provider',
    members: { url: PAGE_URL },
    check: ({ json }) => expect(json).toMatchObject({ final_url: PAGE_URL, status: 200, content: scriptedPage(PAGE_URL) }),
  },
}
