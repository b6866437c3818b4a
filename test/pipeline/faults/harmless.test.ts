// Cases that must not be failures: odd splits and line ends, invalid UTF-8, wrong content types, compression, informational responses,
// answers without text, missing or impossible usage.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { frames, RENDERERS, type Reply, raw, reply } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { type Accounts, accounts } from '../support/accounts.ts'
import { cells } from '../support/cells.ts'
import { answersAnyway, type Cell, framesOf, nameOf, pairs } from '../support/faults.ts'

const count = cells('fault matrix, harmless')
let world: Accounts
beforeAll(async () => {
  world = await accounts()
})
afterAll(() => world.close())

const EMOJI = 'fine 👍🏽, merci — 好的 🧑‍🚀'
const rendered = (upstream: Dialect) => framesOf(upstream, EMOJI).all
/** The same events with other line ends and decoration. */
const LINE_STYLES: Record<string, (all: string[]) => string[]> = {
  LF: (all) => all.map((frame) => frame.replaceAll('\r\n', '\n')),
  CRLF: (all) => all.map((frame) => frame.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n')),
  CR: (all) => all.map((frame) => frame.replaceAll('\r\n', '\n').replaceAll('\n', '\r')),
  'a BOM': (all) => [`\uFEFF${all[0]}`, ...all.slice(1)],
  'no space after the colon': (all) => all.map((frame) => frame.replace(/^(data|event): /gm, '$1:')),
  'comments, ids and retry': (all) =>
    all.flatMap((frame) => [': OPENROUTER PROCESSING\n\n', `id: 7\nretry: 3000\n: x\n${frame}`]),
  'data over several lines': (all) =>
    all.map((frame) => frame.replace(/^data: \{(.*)\}(\r?\n)/m, 'data: {$2data: $1$2data: }$2')),
  'blank lines between': (all) => all.flatMap((frame) => ['\n', frame, '\n\n']),
}

describe('bytes on the wire', () => {
  it('one-byte writes change nothing, in the middle of a code point either', async () => {
    const step = ({ upstream }: Cell) => frames(rendered(upstream), { splitBytes: 1 })
    await answersAnyway(world, count, { row: '12', title: '1-byte writes', modes: ['stream'], step, text: EMOJI })
    const whole = ({ upstream }: Cell) => raw(200, JSON.stringify(RENDERERS[upstream].json({ text: EMOJI })))
    await answersAnyway(world, count, { row: '14', title: 'whole', modes: ['plain'], step: whole, text: EMOJI })
    for (const splitBytes of [2, 3, 7]) {
      const odd = ({ upstream }: Cell) => frames(rendered(upstream), { splitBytes })
      await answersAnyway(world, count, {
        row: '14',
        title: `${splitBytes}-byte writes`,
        modes: ['stream'],
        step: odd,
        text: EMOJI,
      })
    }
  })

  it.each(Object.entries(LINE_STYLES))('%s', async (title, style) => {
    const step = ({ upstream }: Cell) => frames(style(rendered(upstream)))
    await answersAnyway(world, count, { row: '13', title, modes: ['stream'], step, text: EMOJI })
  })

  it('an invalid byte is U+FFFD in the text, and the stream lives', async () => {
    const text = 'abcd?fgh'
    const step = ({ upstream, stream }: Cell) => {
      const body = stream ? framesOf(upstream, text).all.join('') : JSON.stringify(RENDERERS[upstream].json({ text }))
      const bytes = Buffer.from(body)
      for (let at = bytes.indexOf('?'); at !== -1; at = bytes.indexOf('?', at)) bytes[at] = 0xff
      return raw(200, bytes, { contentType: stream ? 'text/event-stream' : 'application/json' })
    }
    await answersAnyway(world, count, { row: '15', title: 'invalid UTF-8', step, text: 'abcd\uFFFDfgh' })
  })
})

describe('the frame around the answer', () => {
  const whole = (upstream: Dialect) => RENDERERS[upstream].json({ text: 'fine, thank you' })
  it('JSON where a stream was asked, under any content type', async () => {
    for (const contentType of ['application/json', 'text/event-stream', 'text/plain', ''])
      await answersAnyway(world, count, {
        row: '17',
        title: `JSON as ${contentType}`,
        modes: ['stream'],
        step: ({ upstream }) => raw(200, `  \n${JSON.stringify(whole(upstream))}`, { contentType }),
      })
  })

  it('a stream where JSON was asked', async () => {
    const step = () => reply({ text: 'fine, thank you' }, { as: 'sse' })
    await answersAnyway(world, count, { row: '17', title: 'SSE', modes: ['plain'], step })
    const labelled = ({ upstream }: Cell) => frames(framesOf(upstream).all, { contentType: 'application/json' })
    await answersAnyway(world, count, { row: '17', title: 'SSE as JSON', step: labelled })
  })

  it.each(['gzip', 'br'] as const)('%s although identity was asked', async (encoding) => {
    const step = () => reply({ text: 'fine, thank you' }, { encoding })
    await answersAnyway(world, count, { row: '18', title: encoding, step })
    expect(world.bad.requests.at(-1)?.headers['accept-encoding']).toBe('identity')
  })

  it('100, 102 and 103 before the answer', async () => {
    const step = () => reply({ text: 'fine, thank you' }, { inform: [100, 102, 103, 103] })
    await answersAnyway(world, count, { row: '19', title: '1xx', step })
  })
})

describe('no text is an answer too', () => {
  const EMPTY: [string, Reply][] = [
    ['a tool call', { toolCalls: [{ id: 'call_1', name: 'look', args: '{"at":"sky"}' }] }],
    ['a refusal', { refusal: 'I cannot help with that.' }],
    ['the token limit', { text: '', finish: 'length' }],
    ['a content filter', { text: '', finish: 'content_filter' }],
    ['nothing at all', { text: '' }],
  ]
  it.each(EMPTY)('%s', async (title, content) => {
    await answersAnyway(world, count, { row: '36', title, step: () => reply(content), ask: { empty: true } })
  })
})

describe('usage', () => {
  const CASES: [string, Reply['usage'], (usage: Booked) => void, Dialect[]?][] = [
    ['missing', null, estimated],
    // Messages streams report output_tokens 1 at their start.
    [
      'zero',
      { input: 0, output: 0 },
      (usage) => expect([usage.estimated, usage.inputTotal, usage.total <= 1]).toEqual([false, 0, true]),
    ],
    ['negative', { input: -12, output: 7 }, estimated],
    // Scripted messages streams start with an output of 1, and Google omits counts that are not positive.
    ['negative output', { input: 12, output: -7 }, estimated, ['chat', 'responses']],
    [
      'more cached than sent',
      { input: 12, cacheRead: 50, output: 7 },
      (usage) => expect(Math.min(usage.inputTotal, usage.outputTotal, usage.total)).toBeGreaterThanOrEqual(0),
    ],
  ]
  interface Booked {
    inputTotal: number
    outputTotal: number
    total: number
    estimated: boolean
  }
  function estimated(usage: Booked): void {
    expect(usage.estimated).toBe(true)
    expect(usage.inputTotal).toBeGreaterThan(0)
    expect(usage.outputTotal).toBeGreaterThan(0)
    expect(usage.total).toBe(usage.inputTotal + usage.outputTotal)
  }
  it.each(CASES)('%s', async (title, usage, check, upstreams) => {
    for (const cell of pairs(upstreams ? { upstreams } : {})) {
      await count.run('37', `${title}, ${nameOf(cell)}`, async () => {
        world.bad.script(reply({ text: 'fine, thank you', usage }))
        const seen = await world.clients[cell.caller]({ model: `two-${cell.upstream}/m`, stream: cell.stream })
        expect(seen).toMatchObject({ raised: null, text: 'fine, thank you' })
        const { outcome } = await world.settle()
        check(outcome.usage)
        expect(outcome.steps).toMatchObject([{ usage: outcome.usage, status: 200 }])
      })
    }
  })
})
