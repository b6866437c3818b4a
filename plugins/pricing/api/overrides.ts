// /api/pricing/overrides: reads and replaces an organization's own prices as a whole.
import { z } from 'zod'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { View } from '../../../core/types/ports/db.ts'
import { isUnit, type PriceList, usdOf } from '../cards/price-names.ts'
import { shifted } from '../decimal.ts'
import { type Override, type OverrideRows, replaceOverrides } from '../overrides.ts'

/** Maps API members to price names. */
const MEMBERS = {
  input: 'input',
  output: 'output',
  cache_read: 'cache_read',
  cache_write: 'cache_write',
  cache_write_1h: 'cache_write_1h',
  reasoning: 'reasoning',
  input_audio: 'input_audio',
  output_audio: 'output_audio',
  per_image_usd: 'per_image',
  per_second_usd: 'per_second',
  per_character_usd: 'per_character',
  per_query_usd: 'per_query',
  per_page_usd: 'per_page',
} as const
type Member = keyof typeof MEMBERS
const NAMES = Object.entries(MEMBERS) as [Member, string][]

const MAX_TOKEN_USD = 1_000_000
const MAX_UNIT_USD = 9

const price = (max: number, about: string) =>
  z
    .number('must be a number of USD, or null')
    .min(0, 'must not be negative')
    .max(max, `must be at most ${max}`)
    .nullable()
    .optional()
    .describe(about)

const usd = (member: Member): ReturnType<typeof price> =>
  isUnit(MEMBERS[member])
    ? price(MAX_UNIT_USD, 'USD for one; null: as the rate card says.')
    : price(MAX_TOKEN_USD, 'USD for 1M tokens; null: as the rate card says.')

const members = Object.fromEntries(NAMES.map(([member]) => [member, usd(member)])) as Record<Member, ReturnType<typeof price>>

const pattern = z
  .string()
  .min(1, 'must not be empty')
  .max(256)
  .regex(/^[!-~]+$/, 'must be a model string such as `openai/gpt-4o`, or a glob such as `openai/gpt-4o*`')

const MAX_OVERRIDES = 2000

export const overrideBody = z.strictObject({ model: pattern.describe('A model string or a glob; any case.'), ...members })

const overridesBody = z
  .strictObject({
    data: z.array(overrideBody).max(MAX_OVERRIDES).optional(),
    overrides: z.record(pattern, z.strictObject(members)).optional().describe('The same by model, instead of `data`.'),
  })
  .superRefine(({ data, overrides }, context) => {
    if ((data === undefined) === (overrides === undefined))
      context.addIssue({ code: 'custom', path: ['data'], message: 'give either `data` or `overrides`' })
    if (overrides !== undefined && Object.keys(overrides).length > MAX_OVERRIDES)
      context.addIssue({ code: 'custom', path: ['overrides'], message: `must have at most ${MAX_OVERRIDES} members` })
    const seen = new Set<string>()
    for (const [place, model] of places(data, overrides)) {
      if (seen.has(model.toLowerCase())) context.addIssue({ code: 'custom', path: place, message: 'is there twice' })
      seen.add(model.toLowerCase())
    }
  })
type OverridesBody = z.output<typeof overridesBody>

function places(data: OverridesBody['data'], overrides: OverridesBody['overrides']): [(string | number)[], string][] {
  return [
    ...(data ?? []).map(({ model }, index): [(string | number)[], string] => [['data', index, 'model'], model]),
    ...Object.keys(overrides ?? {}).map((model): [(string | number)[], string] => [['overrides', model], model]),
  ]
}

const overrideRecord = z.strictObject({
  model: z.string(),
  ...(Object.fromEntries(NAMES.map(([member]) => [member, z.number().nullable()])) as Record<Member, z.ZodNullable<z.ZodNumber>>),
})

export function overridesOf({ data, overrides }: OverridesBody): Override[] {
  const list = data ?? Object.entries(overrides ?? {}).map(([model, prices]) => ({ model, ...prices }))
  return list.map(({ model, ...prices }) => ({ pattern: model, prices: pricesOf(prices) }))
}

function pricesOf(given: Partial<Record<Member, number | null>>): PriceList {
  const list: Record<string, number> = {}
  for (const [member, name] of NAMES) {
    const value = given[member]
    if (value !== undefined && value !== null) list[name] = Number(shifted(value, isUnit(name) ? 15 : 9) ?? 0n)
  }
  return list
}

export function overrideRecordOf({ pattern, prices }: Override): z.input<typeof overrideRecord> {
  const shown = NAMES.map(([member, name]) => [member, prices[name] === undefined ? null : usdOf(name, prices[name])])
  return { model: pattern, ...Object.fromEntries(shown) }
}

const list = z.strictObject({ data: z.array(overrideRecord) })

export function overrideRoutes(gateway: PluginGateway, view: View<OverrideRows>): void {
  const shown = (orgId: number | null) => ({ data: (view.current.get(orgId ?? 0) ?? []).map(overrideRecordOf) })

  gateway.api({
    method: 'GET',
    path: '/api/pricing/overrides',
    summary: 'Prices that hold whatever the rate card says.',
    role: 'member',
    response: list,
    handler: ({ orgId }) => shown(orgId),
  })

  gateway.api({
    method: 'PUT',
    path: '/api/pricing/overrides',
    summary:
      'Replaces all of them, or none when one is wrong. The exact model string counts before globs, the longest glob before others.',
    role: 'manage',
    body: overridesBody,
    response: list,
    audit: 'pricing.overrides',
    async handler({ body, orgId, operator, audited }) {
      const overrides = overridesOf(body)
      await view.write((db) => replaceOverrides(db, orgId, overrides, operator.actor, gateway.clock.now()))
      audited('overrides', { count: overrides.length })
      return shown(orgId)
    },
  })
}
