// Schemas that are built on first use do what those of zod do, alone and together with them.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { z as plain } from 'zod'
import { z } from '../../../core/schema/deferred-zod.ts'

type Zod = typeof plain

const json = (schema: unknown) => plain.toJSONSchema(schema as plain.ZodType, { io: 'input', unrepresentable: 'any' })

/** Schemas of each form that hookgate has, made by one copy of zod. */
const SCHEMAS: Record<string, (zod: Zod) => plain.ZodType> = {
  'a chain': (zod) => zod.string().trim().min(2, 'too short').max(5).regex(/^a/).optional(),
  'a number of a text': (zod) => zod.coerce.number().int().positive().default(3),
  'a time': (zod) => zod.iso.datetime({ offset: true }).nullable(),
  'a shape': (zod) =>
    zod.strictObject({
      a: zod.int().min(1),
      b: zod
        .array(zod.enum(['x', 'y']))
        .max(2)
        .default(['x']),
    }),
  'a shape of another': (zod) =>
    zod
      .looseObject({ a: zod.string() })
      .extend({ b: zod.boolean().prefault(true) })
      .partial(),
  'a spread shape': (zod) => zod.object({ ...zod.object({ a: zod.string() }).shape, b: zod.null() }),
  'a union': (zod) => zod.union([zod.literal('x'), zod.tuple([zod.int(), zod.string()]), zod.record(zod.string(), zod.int())]),
  'one by its tag': (zod) =>
    zod.discriminatedUnion('t', [zod.object({ t: zod.literal('a') }), zod.object({ t: zod.literal('b'), n: zod.number() })]),
  'a transform': (zod) => zod.string().transform(Number).pipe(zod.number().max(9)),
  'a refinement': (zod) =>
    zod.object({ a: zod.int(), b: zod.int() }).refine(({ a, b }) => a < b, { path: ['b'], error: 'b > a' }),
  'a tree': (zod) => {
    const tree: plain.ZodType = zod.lazy(() => zod.array(tree))
    return tree
  },
  'meta data': (zod) => zod.string().meta({ description: 'A name.', env: 'NAME' }).optional(),
}

const VALUES = [
  undefined,
  null,
  'abc',
  ' a',
  'abcdefgh',
  'x',
  '3',
  '12',
  3,
  -1,
  true,
  [],
  ['x'],
  [3, 'x'],
  [[], [[]]],
  {},
  { a: 1 },
  { a: 1, b: ['y'] },
  { a: 's', b: 1 },
  { a: 's', b: null },
  { a: 2, b: 1, c: 0 },
  { t: 'a' },
  { t: 'b', n: 'x' },
  { t: 'c' },
  '2026-11-26T08:00:00+01:00',
]

it.each(Object.entries(SCHEMAS))('%s accepts, changes and refuses the same values, with the same messages', (_, make) => {
  const [ours, zods] = [make(z), make(plain)]
  for (const value of VALUES) {
    const [got, wanted] = [ours.safeParse(value), zods.safeParse(value)]
    expect([got.data, got.error?.issues]).toEqual([wanted.data, wanted.error?.issues])
  }
})

it.each(Object.entries(SCHEMAS))('%s has the same JSON schema', (_, make) => {
  const options = { io: 'input', unrepresentable: 'any' } as const
  expect(z.toJSONSchema(make(z), options)).toEqual(json(make(plain)))
  expect(z.toJSONSchema(z.object({ one: make(z) }), options)).toEqual(json(plain.object({ one: make(plain) })))
})

// Another zod names a schema that contains itself: the meaning is the same, the text is not.
it.each(
  Object.entries(SCHEMAS).filter(([name]) => name !== 'a tree'),
)('%s has the same JSON schema in another zod', (_, make) => {
  expect(json(make(z))).toEqual(json(make(plain)))
  const outer = (zod: Zod) => json(plain.object({ one: make(zod), list: plain.array(make(zod)) }))
  expect(outer(z)).toEqual(outer(plain))
})

it('a schema of another zod goes into one of these', () => {
  expect(z.object({ a: plain.int(), b: z.array(plain.string()) }).parse({ a: 1, b: ['x'] })).toEqual({ a: 1, b: ['x'] })
})

it('classes and meta data are those of the schema', () => {
  const schema = z.string().meta({ env: 'NAME' })
  expect(schema instanceof plain.ZodString && schema instanceof plain.ZodType).toBe(true)
  expect(schema instanceof plain.ZodNumber).toBe(false)
  expect(schema.meta()).toEqual({ env: 'NAME' })
  expect('parse' in schema).toBe(true)
  const { safeParse } = schema
  expect(safeParse('x').data).toBe('x')
})

it('the data of a schema are those of zod, before and after it is built', () => {
  // zod takes each id once.
  let ids = 0
  const forms: ((zod: Zod) => plain.ZodType)[] = [
    (zod) => zod.int(),
    (zod) => zod.int().meta({ env: 'A' }),
    (zod) =>
      zod
        .string()
        .meta({ id: `own-${++ids}`, env: 'A' })
        .meta({ role: 'system' }),
    (zod) => zod.string().meta({ env: 'A' }).describe('A name.'),
    (zod) => zod.string().meta({ env: 'A' }).min(2),
    ...WRAPPERS.map((wrap) => (zod: Zod) => wrap(zod.string().meta({ env: 'A' }))),
    ...WRAPPERS.map((wrap) => (zod: Zod) => wrap(zod.string()).meta({ env: 'B' })),
  ]
  for (const make of forms) {
    const deferred = make(z)
    expect(deferred.meta()).toEqual(make(plain).meta())
    deferred.safeParse('x')
    expect(deferred.meta()).toEqual(make(plain).meta())
  }
})

const WRAPPERS: ((schema: plain.ZodString) => plain.ZodType)[] = [
  (schema) => schema.array(),
  (schema) => schema.catch('x'),
  (schema) => schema.default('x'),
  (schema) => schema.nullable(),
  (schema) => schema.nullish(),
  (schema) => schema.optional(),
  (schema) => schema.pipe(plain.string()),
  (schema) => schema.prefault('x'),
  (schema) => schema.readonly(),
  (schema) => schema.transform(Number),
]

it('asking for the shape or a parser builds nothing', () => {
  const wrong = z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('a') })])
  const around = z.strictObject({ wrong })
  expect(Object.keys(around.shape)).toEqual(['wrong'])
  expect(around.shape.wrong).toBe(wrong)
  expect(typeof around.safeParse).toBe('function')
  expect(() => around.safeParse({ wrong: { t: 'a' } })).toThrow()
})

it('declares without building: a wrong schema throws when it is used', () => {
  const wrong = z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('a') })])
  const around = z.object({ wrong })
  expect(() => around.parse({ wrong: { t: 'a' } })).toThrow()
})

it('it has every member of zod that hookgate uses; a new one goes into its list', () => {
  const missing: string[] = []
  for (const folder of ['core', 'plugins', 'adapters'])
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      const text = name.endsWith('.ts') ? readFileSync(join(ROOT, folder, name), 'utf8') : ''
      if (!/^import \{[^}]*\bz\b[^}]*\} from 'zod'/m.test(text)) continue
      for (const [, outer = '', inner = ''] of text.matchAll(/\bz\s*\.(?:(iso|coerce)\s*\.)?\s*([a-z]\w*)\(/g)) {
        const members = (outer === '' ? z : z[outer as 'iso']) as unknown as Record<string, unknown>
        if (members[inner] === undefined) missing.push(`${folder}/${name}: z.${outer === '' ? '' : `${outer}.`}${inner}`)
      }
    }
  expect(missing).toEqual([])
})

const ROOT = resolve(import.meta.dirname, '../../..')
