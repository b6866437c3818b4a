import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { legacyParameters, legacySchema } from '../../../../adapters/dialects/generate-content/request/schema-legacy.ts'
import type { Json } from '../../../../core/types/request/canonical.ts'
import { assertStrictSchema } from './strict-schema.ts'
import { codec, encode, freeze, request } from './support.ts'

const CYCLIC: Json = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  additionalProperties: false,
  properties: {
    name: { type: ['string', 'null'], format: 'hostname', examples: ['a'] },
    level: { enum: [1, 2, 3] },
    kind: { const: 'node' },
    next: { $ref: '#/$defs/node' },
    tags: { type: 'array' },
    when: { type: 'string', format: 'date-time' },
    either: { oneOf: [{ type: 'string' }, { type: 'integer', exclusiveMinimum: 0 }, { type: 'null' }] },
    both: {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'number', format: 'double' } } },
      ],
    },
    mixed: { type: ['string', 'integer'], description: 'either' },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
  },
  required: ['name', 'next', 'gone'],
  $defs: {
    node: {
      type: 'object',
      properties: { child: { $ref: '#/$defs/node' }, list: { type: 'array', items: { $ref: '#/$defs/node' } } },
    },
  },
}

describe('schemas towards Gemini', () => {
  it('2.5 and later get the JSON Schema with its references', () => {
    const { body } = encode(
      request({ tools: [{ t: 'function', name: 'f', schema: CYCLIC }] }),
      codec({ model: 'gemini-2.5-flash' }),
    )
    const [declaration] =
      (body.tools as { functionDeclarations: { parametersJsonSchema: object }[] }[])[0]?.functionDeclarations ?? []
    const { $schema: _, ...expected } = CYCLIC as { $schema: string }
    expect(declaration).toEqual({ name: 'f', parametersJsonSchema: expected })
  })

  it('an unknown backend gets the JSON Schema too', () => {
    const { text } = encode(
      request({ tools: [{ t: 'function', name: 'f', schema: CYCLIC }] }),
      codec({ caps: { family: 'other' } }),
    )
    expect(text).toContain('parametersJsonSchema')
  })

  it('older backends get a Schema that the strict parser accepts, and the caller keeps its own', () => {
    const before = JSON.stringify(CYCLIC)
    const { body } = encode(
      request({ tools: [{ t: 'function', name: 'f', schema: freeze(CYCLIC) as Json }] }),
      codec({ model: 'gemini-2.0-flash' }),
    )
    const [declaration] = (body.tools as { functionDeclarations: { parameters: Json }[] }[])[0]?.functionDeclarations ?? []
    expect(Object.keys(declaration ?? {})).toEqual(['name', 'parameters'])
    assertStrictSchema(declaration?.parameters as Json)
    expect(declaration?.parameters).toEqual({
      type: 'OBJECT',
      properties: {
        name: { type: 'STRING', nullable: true },
        level: { type: 'INTEGER' },
        kind: { type: 'STRING', enum: ['node'] },
        next: { type: 'OBJECT', properties: { child: { type: 'OBJECT' }, list: { type: 'ARRAY', items: { type: 'OBJECT' } } } },
        tags: { type: 'ARRAY', items: { type: 'STRING' } },
        when: { type: 'STRING', format: 'date-time' },
        either: { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }], nullable: true },
        both: { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'NUMBER', format: 'double' } }, required: ['a'] },
        mixed: { description: 'either', anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] },
        pair: { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] } },
      },
      required: ['name', 'next'],
    })
    expect(JSON.stringify(CYCLIC)).toBe(before)
  })

  it('leaves parameters out for a function that takes nothing', () => {
    expect(legacyParameters({ type: 'object', properties: {} })).toBeNull()
    expect(legacyParameters(undefined)).toBeNull()
    const { text } = encode(request({ tools: [{ t: 'function', name: 'f' }] }))
    expect(text).toContain('"functionDeclarations":[{"name":"f"}]')
  })

  it('cuts references that multiply, loop through themselves or lead nowhere', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `d${i}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } } },
      ]),
    )
    for (const schema of [
      { $ref: '#/$defs/d0', $defs: doubling },
      { $ref: '#' },
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      { allOf: [{ $ref: '#' }], properties: { x: { $ref: '#/nowhere' } } },
      { $ref: 'https://example.com/schema.json' },
    ] as Json[]) {
      const out = legacySchema(schema)
      assertStrictSchema(out)
      expect(JSON.stringify(out).length).toBeLessThan(500_000)
    }
  })

  it('passes the strict parser whatever the schema says', () => {
    const leaf = fc.constantFrom<Json>(
      {},
      true,
      { type: 'string', enum: ['a', ''] },
      { const: 4 },
      { type: 'null' },
      { enum: [null, 'x'] },
      { $ref: '#' },
    )
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc
          .record(
            {
              type: fc.constantFrom<Json>(
                'object',
                'array',
                'string',
                'INTEGER',
                ['string', 'null'],
                ['array', 'object'],
                'weird',
              ),
              properties: fc.dictionary(fc.constantFrom('a', '__proto__', '$ref', 'type'), tie('schema'), { maxKeys: 2 }),
              items: tie('schema'),
              anyOf: fc.array(tie('schema'), { maxLength: 2 }),
              allOf: fc.array(tie('schema'), { maxLength: 2 }),
              required: fc.constant(['a', 'nope']),
              format: fc.constantFrom('uuid', 'int32', 'date-time'),
              not: fc.constant({}),
              description: fc.string(),
              patternProperties: fc.constant({ x: {} }),
            },
            { requiredKeys: [] },
          )
          .map((value) => value as Json),
      ),
    }))
    fc.assert(
      fc.property(schema, (value) => assertStrictSchema(legacySchema(value))),
      { numRuns: 300 },
    )
  })
})
