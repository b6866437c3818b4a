// Parts of a request that must be equal before similarity applies.
import { afterEach, describe, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { ask as asking, bodyOf, type Seen } from '../exact-cache/support.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { type Site, type SiteOptions, site, turns } from './support.ts'

let s: Site
afterEach(() => s.close())

async function open(options: SiteOptions = {}): Promise<void> {
  s = await site({ upstream: [text('first answer'), text('second answer'), text('third answer')], ...options })
}

async function ask(
  prompt: string,
  more: object = {},
  headers: Record<string, string> = {},
  dialect: Dialect = 'chat',
): Promise<Seen> {
  const seen = await asking(s.t, dialect, bodyOf(dialect, prompt, more), headers)
  await turns()
  return seen
}

describe('what must be equal', () => {
  const others: [string, object][] = [
    ['model', { model: 'chat/n' }],
    ['provider', { model: 'messages/m' }],
    ['temperature', { temperature: 0.2 }],
    ['max_tokens', { max_tokens: 9 }],
    ['response format', { response_format: { type: 'json_object' } }],
    ['stop', { stop: ['x'] }],
    ['user', { user: 'u2' }],
    ['seed', { seed: 7 }],
    ['unknown member', { house_rule: 1 }],
    [
      'system prompt',
      {
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'q' },
        ],
      },
    ],
    [
      'turns before',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
          { role: 'user', content: 'q' },
        ],
      },
    ],
  ]

  it.each(others)('another %s: a miss, whatever the likeness', async (_, more) => {
    await open()
    await ask('q')
    expect((await ask('q', more)).cache).toBe('miss')
    expect((await ask('q', more)).cache).toBe('hit')
    expect(s.up.requests).toHaveLength(2)
  })

  it('another caller format', async () => {
    await open()
    await ask('q', { model: 'chat/m', max_tokens: 50 }, {}, 'messages')
    expect((await ask('q', { max_tokens: 50 })).cache).toBe('miss')
  })

  it('the key: identical prompts of two keys never meet', async () => {
    await open()
    const [one, two] = [await makeKey(s.t), await makeKey(s.t)]
    for (const headers of [bearer(one.key), bearer(two.key), {}]) expect((await ask('q', {}, headers)).cache).toBe('miss')
    for (const headers of [bearer(one.key), bearer(two.key), {}]) expect((await ask('q', {}, headers)).cache).toBe('hit')
    expect(s.up.requests).toHaveLength(3)
  })

  it('delivery and labels are no part of it', async () => {
    await open()
    await ask('q', { metadata: { run: '1' } })
    expect((await ask('q', { metadata: { run: '2' }, stream: false })).cache).toBe('hit')
  })
})
