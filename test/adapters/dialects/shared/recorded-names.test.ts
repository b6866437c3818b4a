// A large body records its member names, and the byte lane asks them before it searches. The edits are the same as without them.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { headerBag } from '../../../../core/http/headers.ts'
import { objectScan, scanObject } from '../../../../core/json/json-scan.ts'
import { KeyStack } from '../../../../core/json/key-stack.ts'
import { FewNames, MemberNames } from '../../../../core/json/member-names.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { wrapSignature } from '../../../../core/models/signature.ts'
import type { Dialect } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { DIALECTS, DRIVERS, warningCodec } from '../../../support/dialects.ts'

const limits = { values: Number.POSITIVE_INFINITY, numbers: Number.POSITIVE_INFINITY }
const ours = wrapSignature({ dialect: 'messages', modelFamily: 'claude', value: 'c2VjcmV0' })
const base64 = Buffer.from(ours).toString('base64')

const text = fc.constantFrom('hi', '', 'a "quoted" text', '"tool_calls": ["gw1."]', 'ü', ours)
const id = fc.constantFrom('call_1', 'x'.repeat(64), 'y'.repeat(65), 'rs_0123456789abcdefghijklmn', `rs_${'f'.repeat(50)}`, '')
const secret = fc.constantFrom(ours, base64, '', 'the vendor’s own')
const textPart = fc.record({ type: fc.constant('text'), text })
const content = fc.oneof(text, fc.array(textPart, { maxLength: 3 }), fc.constant(null))

const chatMessage = fc.record(
  {
    role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool'),
    content,
    tool_call_id: id,
    tool_calls: fc.array(
      fc.record(
        {
          id,
          type: fc.constant('function'),
          function: fc.constant({ name: 'f', arguments: '{}' }),
          extra_content: fc.record({ google: fc.record({ thought_signature: secret }) }),
        },
        { requiredKeys: ['id', 'type', 'function'] },
      ),
      { minLength: 1, maxLength: 2 },
    ),
  },
  { requiredKeys: ['role', 'content'] },
)
const block = fc.oneof(
  textPart,
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: secret }, { requiredKeys: ['type', 'thinking'] }),
  fc.record({ type: fc.constant('tool_use'), id, name: fc.constant('f'), input: fc.constant({}) }),
)
const messagesTurn = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.oneof(text, fc.array(block, { maxLength: 3 })),
})
const item = fc.oneof(
  fc.record({ type: fc.constant('message'), id, role: fc.constant('assistant'), content: fc.array(textPart, { maxLength: 2 }) }),
  fc.record(
    { type: fc.constant('reasoning'), id, encrypted_content: secret, summary: fc.constant([]) },
    { requiredKeys: ['type', 'id'] },
  ),
)
const part = fc.record(
  { text, thought: fc.boolean(), thoughtSignature: secret, thought_signature: secret, functionCall: fc.constant({ name: 'f' }) },
  { requiredKeys: [] },
)
const bodies: Record<Dialect, fc.Arbitrary<object>> = {
  chat: fc.record({ model: fc.constant('m'), messages: fc.array(chatMessage, { maxLength: 12 }) }),
  messages: fc.record({
    model: fc.constant('m'),
    max_tokens: fc.constant(9),
    messages: fc.array(messagesTurn, { maxLength: 6 }),
  }),
  responses: fc.record({ model: fc.constant('m'), input: fc.oneof(text, fc.array(item, { maxLength: 6 })) }),
  generate_content: fc.record({
    contents: fc.array(fc.record({ role: text, parts: fc.array(part, { maxLength: 4 }) }), { maxLength: 6 }),
  }),
}
const quirks = fc.constantFrom<CodecContext['quirks'][]>(
  {},
  { developerRole: false },
  { toolIds: 'alnum9' },
  { acceptsPartArrays: true },
)

it.each(DIALECTS)('edits a %s body with recorded names as one without', (dialect) => {
  const driver = DRIVERS[dialect]
  fc.assert(
    fc.property(bodies[dialect], quirks, fc.constantFrom('', ' ', '\n'), (sent, facts, space) => {
      const bytes = new TextEncoder().encode(JSON.stringify(sent, null, space))
      const names = new MemberNames()
      const members = objectScan(bytes, limits, new KeyStack(), names)(Number.POSITIVE_INFINITY) as never
      const few = new FewNames()
      const small = wireBody(bytes, scanObject(bytes, limits, few), few)
      const [recorded, masked, plain] = [wireBody(bytes, members, names), small, wireBody(bytes)].map((body) => {
        driver.spliceRequest(body, warningCodec(driver, { model: 'm', quirks: facts, caller: dialect }), headerBag())
        return new TextDecoder().decode(body.bytes)
      })
      expect(recorded).toBe(plain)
      expect(masked).toBe(plain)
    }),
    { numRuns: 300 },
  )
})

it('the masks of a small text never miss a name, also one with an escape', () => {
  const name = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('type', 'tool_calls', 'content'))
  fc.assert(
    fc.property(fc.array(name, { maxLength: 30 }), fc.nat(), (given, at) => {
      const nested = given.reduceRight<object>((inner, key) => ({ [key]: inner }), {})
      const text = JSON.stringify({ nested })
      const escaped = given.length === 0 ? text : text.replace(`"${given[at % given.length]}":`, '"\\u0074ype":')
      for (const one of [text, escaped]) {
        const few = new FewNames()
        const body = wireBody(one, scanObject(Buffer.from(one), limits, few), few)
        const found: string[] = []
        JSON.parse(one, (key, value) => {
          found.push(key)
          return value
        })
        for (const key of found.filter((key) => key !== '' && JSON.stringify(key) === `"${key}"`))
          expect(body.mayName(key), `${one} ${key}`).toBe(true)
      }
    }),
  )
})

it('the masks of a usual request answer no for the names that it does not have', () => {
  const few = new FewNames()
  const text = '{"model":"m","stream":false,"temperature":1,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}'
  const body = wireBody(text, scanObject(Buffer.from(text), limits, few), few)
  const absent = ['extra_content', 'tool_calls', 'tool_call_id', 'type', 'cache_control', 'encrypted_content']
  expect(absent.filter((name) => body.mayName(name)).length).toBeLessThanOrEqual(2)
})
