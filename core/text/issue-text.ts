// Writes the text of a zod issue in the gateway's style: what the value must be.
import type { z } from 'zod'
import { entryOf } from '../collections/entry-of.ts'

type Issue = z.core.$ZodRawIssue

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
  null: 'null',
}

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a URL',
  email: 'an e-mail address',
  uuid: 'a UUID',
  date: 'a date such as 2027-01-31',
  datetime: 'an RFC 3339 time such as 2027-01-31T12:00:00Z',
}

/** For `safeParse(value, WORDED)`: a schema's own messages take precedence over these. */
export const WORDED: { error(issue: Issue): string | undefined } = { error: issueText }

/** The same for a schema that parses one value in the life of a process: zod then compiles no function for it. */
export const WORDED_ONCE = { ...WORDED, jitless: true }

function issueText(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return must(entryOf(KINDS, issue.expected))
    case 'invalid_value':
      return issue.values.length === 1 ? `must be ${shown(issue.values)}` : `must be one of ${shown(issue.values)}`
    case 'too_small':
      return bound(issue.origin, Number(issue.minimum), issue.inclusive === false ? 'more than' : 'at least')
    case 'too_big':
      return bound(issue.origin, Number(issue.maximum), issue.inclusive === false ? 'less than' : 'at most')
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return must(entryOf(FORMATS, issue.format))
    case 'unrecognized_keys':
      return `there is no such field (${issue.keys.join(', ')})${others(issue.inst)}`
    case 'invalid_union':
      return 'has none of the forms that are allowed here'
    default:
      return undefined
  }
}

/** Limit of the field names in one message. */
const MAX_FIELDS = 40

function others(schema: unknown): string {
  const shape = (schema as z.ZodObject | undefined)?.def?.shape
  const fields = shape === undefined ? [] : Object.keys(shape)
  return fields.length === 0 || fields.length > MAX_FIELDS ? '' : `; there are: ${fields.join(', ')}`
}

function must(what: string | undefined): string | undefined {
  return what === undefined ? undefined : `must be ${what}`
}

function shown(values: readonly unknown[]): string {
  return values.map((value) => `\`${String(value)}\``).join(', ')
}

function bound(origin: string, limit: number, relation: string): string {
  if (origin === 'string')
    return limit === 1 && relation === 'at least' ? 'must not be empty' : `must be ${relation} ${limit} characters`
  if (origin === 'array' || origin === 'set' || origin === 'map' || origin === 'object')
    return `must have ${relation} ${limit} ${limit === 1 ? 'entry' : 'entries'}`
  return `must be ${relation} ${limit}`
}
