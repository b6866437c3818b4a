// The facts of a variable are those that its schema says as JSON, whether they are read from its calls or from the built schema.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { describedFacts, schemaFacts } from '../../../core/config/schema-variable.ts'
import { preset } from '../../../plugins/preset.ts'

const OF_PRESET = preset().flatMap(({ name, definition }) =>
  Object.entries(definition.variables ?? {}).map(([variable, { option, setting }]) => {
    const shape: Record<string, unknown> = option === undefined ? (definition.settings ?? {}) : (definition.config?.shape ?? {})
    return [`${name} ${variable}`, shape[(option ?? setting) as string] as z.ZodType] as const
  }),
)

const OTHERS = {
  'no default': z.string(),
  'a bound below a bound': z.int().min(3).min(1).default(4),
  'a bound beyond': z.int().gt(3).lt(9),
  'whole numbers': z.number().int().min(0),
  'a default within null': z.int().default(3).nullable(),
  'a default around null': z.enum(['a', 'b']).nullable().default('a'),
  'a made default': z.boolean().default(() => true),
  'one choice': z.enum(['a']),
  'choices of an object': z.enum({ A: 'a', B: 'b' }),
  'data of its own': z.int().min(1).meta({ env: 'X', scope: 'organization' }).default(1),
  'data that names a bound': z.number().min(1).meta({ maximum: 5 }),
  'a bound of a text': z.string().min(4).max(9).default('none'),
  'an address': z.url().optional(),
  'a transform': z.string().transform(Number),
}

it.each([...OF_PRESET, ...Object.entries(OTHERS)])('%s', (_, schema) => {
  expect(schemaFacts(schema)).toEqual(describedFacts(schema))
})
