// Query parameters of control-plane routes: repeated values form a list when the schema has an array, otherwise one value.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { readerOf } from '../../support/openapi.ts'

const LISTS = {
  plain: z.array(z.string()),
  optional: z.array(z.string()).optional(),
  defaulted: z.array(z.string()).default(['none']),
  numbers: z.array(z.coerce.number('must be a number')).max(2, 'must be at most 2').optional(),
  joined: z
    .array(z.string())
    .transform((given) => given.join('+'))
    .pipe(z.string())
    .nullable()
    .optional(),
}

const echoing = definePlugin({
  name: 'echoing',
  setup(gateway) {
    gateway.api({
      method: 'GET',
      path: '/api/echoing',
      summary: 'What was asked for.',
      query: z.strictObject({ ...LISTS, one: z.string().optional(), count: z.coerce.number().optional() }),
      response: z.looseObject({}),
      handler: ({ query }) => ({ ...query }),
    })
    gateway.api({
      method: 'GET',
      path: '/api/echoing/loose',
      summary: 'Also what nobody knows.',
      query: z.looseObject({}),
      response: z.looseObject({}),
      handler: ({ query }) => ({ ...query }),
    })
  },
})

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway({ plugins: [echoing()] })
})
afterAll(() => t.close())

async function asked(query: string, path = '/api/echoing'): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await t.fetch(`${path}?${query}`)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

it('a field that is an array gets every value in order, one value too, whatever the array is wrapped in', async () => {
  const { body } = await asked('plain=a&optional=b&plain=c&defaulted=d&numbers=1&numbers=2&joined=x&joined=y&one=z&count=3')
  expect(body).toEqual({
    plain: ['a', 'c'],
    optional: ['b'],
    defaulted: ['d'],
    numbers: [1, 2],
    joined: 'x+y',
    one: 'z',
    count: 3,
  })
  expect((await asked('plain=a%2Cb&plain=')).body).toEqual({ plain: ['a,b', ''], defaulted: ['none'] })
})

it('what is missing is missing, and a list has its own complaints', async () => {
  for (const [query, param] of [
    ['', 'plain'],
    ['plain=a&numbers=1&numbers=x', 'numbers.1'],
    ['plain=a&numbers=1&numbers=2&numbers=3', 'numbers'],
    ['plain=a&other=1&other=2', 'other'],
  ] as const) {
    const { status, body } = await asked(query)
    expect([status, (body.error as { param: string }).param], query).toEqual([400, param])
  }
})

it('a field that is no array is given once: a second value is refused by name, not passed over', async () => {
  for (const name of ['one', 'count']) {
    const { status, body } = await asked(`plain=a&${name}=1&${name}=2`)
    expect([status, body.error]).toEqual([
      400,
      expect.objectContaining({ param: name, message: `\`${name}\`: must be given once.`, type: 'invalid_request_error' }),
    ])
  }
})

it('names that objects have of their own are names like any other', async () => {
  expect((await asked('constructor=1&toString=2&toString=3', '/api/echoing/loose')).body).toEqual({
    constructor: '1',
    toString: '3',
  })
  const { status, body } = await asked('plain=a&__proto__=1')
  expect([status, (body.error as { param: string }).param]).toEqual([400, '__proto__'])
})

it('is an array in OpenAPI, which is repeated by default', async () => {
  const reader = await readerOf(t)
  const { parameters } = reader.operations.find(({ name }) => name === 'GET /api/echoing')!
  const schemaOf = (name: string) => parameters.find((parameter) => parameter.name === name)
  expect(schemaOf('plain')).toMatchObject({ in: 'query', required: true, schema: { type: 'array', items: { type: 'string' } } })
  expect(schemaOf('optional')).toMatchObject({ required: false, schema: { type: 'array' } })
  const logs = reader.operations.find(({ name }) => name === 'GET /api/logs')!
  expect(logs.parameters.find(({ name }) => name === 'status')).toMatchObject({
    required: false,
    schema: { type: 'array', items: { type: 'string', minLength: 1 } },
  })
})
