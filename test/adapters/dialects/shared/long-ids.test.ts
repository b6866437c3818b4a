// Identifiers over a target's limit: a stable hash within the limit goes instead, from every caller and in both lanes.
import { describe, expect, it } from 'vitest'
import { chatDialect } from '../../../../adapters/dialects/chat/index.ts'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { responsesDialect } from '../../../../adapters/dialects/responses/index.ts'
import { ANTHROPIC, CATALOG } from '../../../../adapters/providers/catalog.ts'
import { azure } from '../../../../adapters/providers/cloud/azure.ts'
import { openai } from '../../../../adapters/providers/openai.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { Dialect, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { DialectDriver, Quirks } from '../../../../core/types/request/dialect.ts'
import { freeze, warningCodec } from '../../../support/dialects.ts'

const DRIVERS = { chat: chatDialect, messages: messagesDialect, responses: responsesDialect } as const
type Speaker = keyof typeof DRIVERS
const SPEAKERS = Object.keys(DRIVERS) as Speaker[]
const quirksOf = (id: string): Quirks => CATALOG.find((row) => row.id === id)?.quirks ?? {}

/** The request of a caller who names `id` as its user. */
function asked(caller: Speaker, id: string): JsonObject {
  const message = { role: 'user', content: 'hi' }
  if (caller === 'messages') return { model: 'm', max_tokens: 9, messages: [message], metadata: { user_id: id } }
  if (caller === 'chat') return { model: 'm', messages: [message], user: id, safety_identifier: id, prompt_cache_key: id }
  return { model: 'm', input: 'hi', user: id, safety_identifier: id, prompt_cache_key: id }
}

/** What the upstream gets, by the byte lane where `splice`. */
function sent(caller: Speaker, upstream: Speaker, body: JsonObject, quirks: Quirks, splice = false) {
  const [from, to]: [DialectDriver, DialectDriver] = [DRIVERS[caller], DRIVERS[upstream]]
  const codec = warningCodec(to, { caller: caller as Dialect, upstream, model: 'x', caps: { family: 'gpt' }, quirks })
  const source = wireBody(JSON.stringify(body))
  if (splice) {
    to.spliceRequest(source, codec, headerBag([]))
    return { wire: JSON.parse(new TextDecoder().decode(Buffer.concat(source.toBytes()))) as JsonObject, warnings: codec.warnings }
  }
  const request = from.decodeRequest(source, headerBag([]), { operation: 'chat' })
  return { wire: to.encodeRequest(freeze(request), codec).body.json() as JsonObject, warnings: codec.warnings }
}

const CLAUDE_CODE = `user_${'0123456789abcdef'.repeat(4)}_account__session_${'ab'.repeat(18)}`.padEnd(150, 'c')
const idOf = (upstream: Speaker, wire: JsonObject) =>
  (upstream === 'messages' ? (wire.metadata as JsonObject | undefined)?.user_id : wire.user) as string

/** A stream of numbers in [0, 1) that a seed decides. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

describe('OpenAI', () => {
  it.each(['chat', 'responses'] as const)('takes the id of Claude Code as a hash: messages → %s', (upstream) => {
    const { wire, warnings } = sent('messages', upstream, asked('messages', CLAUDE_CODE), openai.quirks)
    expect(wire.user).toMatch(/^[0-9a-f]{64}$/)
    expect(warnings).toContain('hashed_user')
  })

  it.each([false, true])('takes all three identifiers within 64 characters, byte lane: %s', (splice) => {
    for (const caller of ['chat', 'responses'] as const) {
      const long = sent(caller, caller, asked(caller, CLAUDE_CODE), openai.quirks, splice)
      for (const field of ['user', 'safety_identifier', 'prompt_cache_key']) expect(long.wire[field]).toMatch(/^[0-9a-f]{64}$/)
      const short = sent(caller, caller, asked(caller, 'x'.repeat(64)), openai.quirks, splice)
      expect(short.wire).toMatchObject({ user: 'x'.repeat(64), prompt_cache_key: 'x'.repeat(64) })
      expect(short.warnings.filter((slug) => slug.startsWith('hashed'))).toEqual([])
    }
  })
})

describe('the limits of the catalog', () => {
  const targets: readonly (readonly [string, Quirks, Speaker, number])[] = [
    ['openai', openai.quirks, 'chat', 64],
    ['openai', openai.quirks, 'responses', 64],
    ['azure', azure.quirks, 'chat', 64],
    ['openrouter', quirksOf('openrouter'), 'chat', 128],
    ['zai', quirksOf('zai'), 'chat', 128],
    ['anthropic', ANTHROPIC.quirks ?? {}, 'messages', 256],
  ]
  it.each(
    targets,
  )('%s: any id of any caller fits, the same id gives the same text, another id another', (_name, quirks, upstream, limit) => {
    const random = seeded(limit)
    for (let round = 0; round < 60; round++) {
      const wide = random() < 0.3 ? '🦊' : 'ab'[Math.floor(random() * 2)]!
      const id = wide.repeat(1 + Math.floor(random() * 2 * limit)) + round
      for (const caller of SPEAKERS) {
        const splices = caller === upstream ? [false, true] : [false]
        for (const splice of splices) {
          const got = idOf(upstream, sent(caller, upstream, asked(caller, id), quirks, splice).wire)
          expect([...got].length).toBeLessThanOrEqual(limit)
          expect(idOf(upstream, sent(caller, upstream, asked(caller, id), quirks, splice).wire)).toBe(got)
          if ([...id].length <= limit)
            expect(caller !== upstream && upstream === 'messages' ? got.length > 0 : got === id).toBe(true)
          else expect(idOf(upstream, sent(caller, upstream, asked(caller, `${id}x`), quirks, splice).wire)).not.toBe(got)
        }
      }
    }
  })

  it('an unknown target gets the id as it is', () => {
    for (const splice of [false, true]) {
      expect(sent('chat', 'chat', asked('chat', CLAUDE_CODE), {}, splice).wire.user).toBe(CLAUDE_CODE)
    }
    expect(sent('messages', 'chat', asked('messages', CLAUDE_CODE), {}).wire.user).toBe(CLAUDE_CODE)
  })
})

describe('a refusal', () => {
  const decoded = (driver: DialectDriver, error: object) =>
    driver.decodeError(400, headerBag([]), new TextEncoder().encode(JSON.stringify({ error }))).upstream
  const openaiError = (param: string) => ({
    message: `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length 150 instead.`,
    type: 'invalid_request_error',
    param,
    code: 'string_above_max_length',
  })

  it('names the identifier that is too long', () => {
    for (const driver of [chatDialect, responsesDialect])
      for (const param of ['user', 'safety_identifier', 'prompt_cache_key', 'metadata.user_id'])
        expect(decoded(driver, openaiError(param))).toMatchObject({ field: param, fieldTooLong: true })
    const message = 'metadata.user_id: String should have at most 256 characters'
    expect(decoded(messagesDialect, { type: 'invalid_request_error', message })).toMatchObject({
      field: 'metadata.user_id',
      fieldTooLong: true,
    })
  })

  it('of a text that means something to the model is none to recover from', () => {
    for (const param of ['messages[0].content', 'instructions', 'tools[0].function.name'])
      for (const driver of [chatDialect, responsesDialect])
        expect(decoded(driver, openaiError(param))).toMatchObject({ field: null })
  })
})
