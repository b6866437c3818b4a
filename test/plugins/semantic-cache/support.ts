// A gateway with a semantic cache, an upstream of four dialects, and an embedder whose vectors the test chooses.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Step } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import { type PresetOptions, preset } from '../../../plugins/preset.ts'
import { DIALECTS } from '../../support/dialects.ts'

export interface Embeddings {
  readonly baseUrl: string
  /** Inputs of each call. */
  readonly asked: { model: string; input: string[]; authorization: string | undefined }[]
  vectorOf: (text: string) => ArrayLike<number>
  /** Instead of vectors: a status, or nothing at all. */
  fails: number | 'silent' | null
  usage: object | null
  close(): Promise<void>
}

export async function embeddings(vectorOf: Embeddings['vectorOf']): Promise<Embeddings> {
  const asked: Embeddings['asked'] = []
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const { model, input } = JSON.parse(Buffer.concat(chunks).toString()) as { model: string; input: string[] }
    asked.push({ model, input, authorization: req.headers.authorization })
    if (self.fails === 'silent') return
    if (self.fails !== null) return void res.writeHead(self.fails).end('{}')
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: [...Array.from(self.vectorOf(text))] }))
    // In any order: the index says which is whose.
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ object: 'list', data: data.reverse(), model, ...(self.usage && { usage: self.usage }) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const self: Embeddings = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    vectorOf,
    fails: null,
    usage: { prompt_tokens: 8, total_tokens: 8 },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return self
}

/** A vector whose cosine with [1, 0] is this. */
export const at = (similarity: number): number[] => [similarity, Math.sqrt(1 - similarity * similarity)]

export interface Site {
  readonly t: TestGateway
  readonly up: ScriptedUpstream
  readonly embed: Embeddings
  close(): Promise<void>
}

export interface SiteOptions extends Omit<TestGatewayOptions, 'upstream'> {
  upstream?: Step[]
  vectorOf?: Embeddings['vectorOf']
  semanticCache?: PresetOptions['semanticCache']
  /** Ahead of the preset. */
  first?: Plugin[]
}

/** On, never sampling; question `q` is [1, 0], `q <similarity>` is so like it, and anything else is at right angles. */
export async function site(options: SiteOptions = {}): Promise<Site> {
  const { upstream = [], vectorOf = scripted, semanticCache, first = [], env, config, ...rest } = options
  const up = await scriptedUpstream(...upstream)
  const embed = await embeddings(vectorOf)
  const connections = {
    embed: { provider: 'custom', baseUrl: embed.baseUrl, wireFormat: 'chat' as const, apiKey: 'sk-embed' },
    ...Object.fromEntries(
      DIALECTS.map((dialect) => [
        dialect,
        { provider: 'custom', baseUrl: up.baseUrl(dialect), wireFormat: dialect, apiKey: 'sk-upstream' },
      ]),
    ),
  }
  const t = await createTestGateway({
    ...rest,
    config: { connections, plugins: [...first, ...preset(semanticCache === undefined ? {} : { semanticCache })], ...config },
    env: {
      SEMANTIC_CACHE_ENABLED: 'true',
      SEMANTIC_CACHE_EMBED_MODEL: 'embed/e-1',
      SEMANTIC_CACHE_REVALIDATE_RATE: '0',
      ...env,
    },
  })
  return {
    t,
    up,
    embed,
    async close() {
      await t.close()
      await up.close()
      await embed.close()
    },
  }
}

export function scripted(text: string): number[] {
  if (text === 'q') return [1, 0]
  const likeness = /^q ([\d.]+)$/.exec(text)?.[1]
  return likeness === undefined ? [0, 0, 1] : at(Number(likeness))
}

/** What is kept behind the answer is there after some turns. */
export async function turns(count = 30): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

export interface ShownRoute {
  route: string
  key_id: number | null
  threshold: number
  precision: number | null
  samples: number
  disabled: boolean
  hits: number
  misses: number
}

export async function routes(t: TestGateway): Promise<ShownRoute[]> {
  const response = await t.fetch('/api/settings/semantic-cache/routes')
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return ((await response.json()) as { data: ShownRoute[] }).data
}
