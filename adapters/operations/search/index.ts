// POST /v1/search.
import { z } from 'zod'
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import { ANY_SEARCH, decodeSearch, encodeSearch, queryText, resultTexts } from './caller.ts'
import { exaSearch, searchVendors } from './vendors.ts'

const result = z.looseObject({
  position: z.int(),
  title: z.string(),
  url: z.string(),
  snippet: z.string(),
  score: z.number().nullable(),
  published_at: z.string().nullable(),
  content: z.string().nullable(),
})

export const search: OperationDriver<'search'> = {
  id: 'search',
  connections: 'all',
  routes: [
    {
      path: '/v1/search',
      bodyLimit: 'default',
      models: 'concrete',
      modelOf: (body) => (typeof body.get('provider') === 'string' ? `${body.get('provider')}/search` : ANY_SEARCH),
      summary: 'Web and news search. Without `model` and `provider` the first connected search provider answers.',
      decode: decodeSearch,
      body: z.looseObject({
        query: z.string(),
        model: z.string().optional(),
        provider: z.string().optional(),
        max_results: z.int().min(1).max(50).optional(),
        search_type: z.enum(['web', 'news']).optional(),
        country: z.string().optional(),
        language: z.string().optional(),
        time_range: z.enum(['day', 'week', 'month', 'year']).optional(),
        include_domains: z.array(z.string()).optional(),
        exclude_domains: z.array(z.string()).optional(),
        include_content: z.boolean().optional(),
      }),
      response: z.looseObject({
        object: z.literal('search.results'),
        provider: z.string(),
        results: z.array(result),
        total_results: z.number().nullable(),
        usage: z.looseObject({ queries: z.int() }),
      }),
    },
  ],
  input: queryText,
  output: resultTexts,
  estimate: () => ({ units: { queries: 1 } }),
  encode: encodeSearch,
  codecs: { ...searchVendors, exa: exaSearch },
}
