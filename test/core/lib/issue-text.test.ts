// Messages for an invalid field: what it must be, whoever wrote its schema.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { parseConfig } from '../../../core/config/define.ts'
import { WORDED } from '../../../core/text/issue-text.ts'

const said = (schema: z.ZodType, value: unknown) => schema.safeParse(value, WORDED).error?.issues[0]?.message

it.each<[string, z.ZodType, unknown, string]>([
  ['what is not there', z.strictObject({ name: z.string() }), {}, 'is required'],
  ['another type', z.string(), 7, 'must be a string'],
  ['a text for a number', z.number(), '7', 'must be a number'],
  ['half a number', z.int(), 1.5, 'must be a whole number'],
  ['a text for a truth', z.boolean(), 'yes', 'must be true or false'],
  ['a list for an object', z.strictObject({}), [], 'must be an object'],
  ['an object for a list', z.array(z.string()), {}, 'must be an array'],
  ['a word of no list', z.enum(['org', 'key']), 'user', 'must be one of `org`, `key`'],
  ['another constant', z.literal('list'), 'data', 'must be `list`'],
  ['no text', z.string().min(1), '', 'must not be empty'],
  ['too short a text', z.string().min(12), 'short', 'must be at least 12 characters'],
  ['too long a text', z.string().max(3), 'long', 'must be at most 3 characters'],
  ['too few', z.array(z.int()).min(1), [], 'must have at least 1 entry'],
  ['too many', z.array(z.int()).max(2), [1, 2, 3], 'must have at most 2 entries'],
  ['too small a number', z.number().min(1), 0, 'must be at least 1'],
  ['none of a positive number', z.number().positive(), 0, 'must be more than 0'],
  ['too large a number', z.number().max(100), 101, 'must be at most 100'],
  ['no part of a whole', z.number().multipleOf(5), 7, 'must be a multiple of 5'],
  ['no URL', z.url(), 'example', 'must be a URL'],
  ['no time', z.iso.datetime(), 'noon', 'must be an RFC 3339 time such as 2027-01-31T12:00:00Z'],
  ['neither of two', z.union([z.string(), z.number()]), true, 'has none of the forms that are allowed here'],
  ['fields that are not there', z.strictObject({}), { x: 1, y: 2 }, 'there is no such field (x, y)'],
  [
    'a field by another name',
    z.strictObject({ a: z.number().optional(), b: z.number().optional() }),
    { x: 1 },
    'there is no such field (x); there are: a, b',
  ],
  ['words of its own', z.string('must be a name'), 7, 'must be a name'],
])('%s', (_name, schema, value, words) => {
  expect(said(schema, value)).toBe(words)
})

it('the file says them with the path', () => {
  expect(() => parseConfig({ options: 7 })).toThrow('options: must be an object')
})
