// `hookgate pricing show`, also `hookgate price`: prints the price of a model and its source.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { queryOf, readControlPlane } from '../control-plane/control-plane.ts'
import { localTime, usd } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Price {
  model: string
  prices: Record<string, unknown> & { tiers?: { above: number }[] }
  source: 'override' | 'primary' | 'fallback' | 'builtin' | 'none'
  matched_key: string | null
  fetched_at: string | null
  stale_since: string | null
  drift: { pct: number; field: string; detected_at: string } | null
}

const SOURCES = {
  override: 'an override',
  primary: 'the rate card',
  fallback: 'the second rate card',
  builtin: 'the prices compiled in',
} as const

const price = (name: string) =>
  action({
    name,
    description: 'Show what a model costs, and where the price comes from.',
    args: {
      model: { type: 'positional', required: true, description: 'Model string, such as openai/gpt-4.1' },
      ...JSON_FLAG,
      ...PLANE,
    },
    async run(given) {
      const path = `/api/pricing/resolve${queryOf({ model: given.model })}`
      const found = await readControlPlane(given, ({ call }) => call<Price>('GET', path))
      if (given.json) return printJson(found)
      if (found.source === 'none') {
        const hint = found.model.includes('/') ? '' : ' Model strings begin with their provider, such as openai/gpt-4.1.'
        throw new Error(`No price is known for ${cell(found.model)}: what it costs is not counted.${hint}`)
      }
      const { tiers = [], ...plain } = found.prices
      const above = tiers.flatMap((tier) =>
        rowsOf(tier)
          .filter(([name]) => name !== 'above')
          .map(([name, ...rest]) => [`${name}, prompt above ${tier.above}`, ...rest]),
      )
      console.log(table(['WHAT', 'USD', 'PER'], [...rowsOf(plain), ...above], {}, ['USD']))
      const fetched = found.fetched_at === null ? '' : `, fetched ${localTime(found.fetched_at)}`
      say.info(`From ${SOURCES[found.source]} (${cell(found.matched_key)})${fetched}.`)
      if (found.stale_since !== null) say.warn(`The rate card has not had all of it since ${localTime(found.stale_since)}.`)
      if (found.drift !== null)
        say.warn(
          `${found.drift.field} moved by ${Math.round(found.drift.pct)} % on ${localTime(found.drift.detected_at)}, and the change is not reviewed yet.`,
        )
    },
  })

export const showPrice = price('show')
export const priceCommand = price('price')

function rowsOf(prices: Readonly<Record<string, unknown>>): string[][] {
  return Object.entries(prices).flatMap(([name, value]): string[][] => {
    if (typeof value === 'object' && value !== null)
      return rowsOf(value as Record<string, unknown>).map(([inner = '', ...rest]) => [`${name} ${inner}`, ...rest])
    if (typeof value !== 'number') return []
    const unit = /^per_(.+)_usd$/.exec(name)
    return unit === null
      ? [[name.replaceAll('_', ' '), usd(value), '1M tokens']]
      : [['', usd(value), (unit[1] as string).replaceAll('_', ' ')]]
  })
}
