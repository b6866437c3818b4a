// A virtual model as it is edited: a form and a text of the same value.

import type { Got } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'

export type VirtualModel = Got<'/api/virtual-models'>['data'][number]
export type Draft = NonNullable<paths['/api/virtual-models']['post']['requestBody']>['content']['application/json']
export type Strategy = Draft['strategy']

export const STRATEGIES: readonly (readonly [Strategy, string])[] = [
  ['failover', 'Failover: in this order'],
  ['load_balance', 'Load balance: in turn'],
  ['weighted', 'Weighted: by chance, by weight'],
  ['cost_optimized', 'Cheapest first'],
  ['latency_based', 'Fastest first'],
  ['fusion', 'Fusion: all answer, a judge decides'],
  ['pipeline', 'Pipeline: one after the other'],
]

export function draftOf(model: VirtualModel): Draft {
  const { name, strategy, modality, enabled, description, targets, config } = model
  return {
    name,
    strategy,
    modality,
    enabled,
    description,
    targets: targets.map(({ target, weight, connection_id, enabled, instruction, params }) => ({
      target,
      weight,
      connection_id,
      enabled,
      ...(instruction !== null && { instruction }),
      ...(params !== null && { params }),
    })),
    config,
  }
}

export function emptyDraft(recipe: Partial<Draft> | undefined): Draft {
  return { name: '', strategy: 'failover', targets: [], enabled: true, description: '', ...recipe }
}

/** @throws Error saying what is wrong with the text. The server judges the values. */
export function draftFromText(text: string): Draft {
  const given = JSON.parse(text) as Partial<Draft> | null
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Error('It must be one object in braces.')
  const { name, strategy, targets, config } = given
  if (typeof name !== 'string') throw new Error('`name` must be a text.')
  if (typeof strategy !== 'string') throw new Error('`strategy` must be a text.')
  const isTarget = (one: unknown): boolean => typeof one === 'string' || (typeof one === 'object' && one !== null)
  if (!Array.isArray(targets) || !targets.every(isTarget)) throw new Error('`targets` must be a list of models.')
  if (config !== undefined && (typeof config !== 'object' || config === null)) throw new Error('`config` must be an object.')
  return given as Draft
}

/** The draft as text of gateway.config.ts. */
export function configText(draft: Draft): string {
  const { name, ...rest } = draft
  return `virtualModels: {\n  ${JSON.stringify(name)}: ${JSON.stringify(rest, null, 2).replaceAll('\n', '\n  ')},\n}`
}

export function sameDraft(a: Draft, b: Draft): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
