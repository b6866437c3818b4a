// on_chunk takes part in streams, read by read; its output must still be a valid stream.
import { describe, expect, it } from 'vitest'
import { reply } from '../../../adapters/testing/index.ts'
import { ask, DIALECTS, ERROR_FRAME, until } from '../../adapters/node/support.ts'
import { answerOf, saidBy } from '../../support/dialects.ts'
import { guest, says, stars, when } from './guests.ts'
import { filteredOnes } from './support.ts'

const filtered = filteredOnes()

const SAID = 'My card is #### #### and not 1234. '.repeat(3)

describe('on_chunk', () => {
  it.each(DIALECTS)('redacts a stream, a caller of %s, from every upstream', async (caller) => {
    const { t } = await filtered([await guest({ exports: { on_chunk: stars('events') } })])
    for (const upstream of DIALECTS)
      for (const splitBytes of [undefined, 7]) {
        t.upstream.script(reply({ text: SAID, chunk: 3, usage: { input: 12, output: 30 } }, { splitBytes }))
        const { path, body } = ask(caller, `${upstream}/m`, { stream: true })
        const response = await t.post(path, body)
        const frames = await response.text()
        expect(response.status, frames).toBe(200)
        expect(frames).not.toContain('#')
        expect(saidBy(answerOf(caller, frames, true)).text, upstream).toBe(SAID.replaceAll('#', '*'))
      }
  })

  it('what it changes changes nothing of the usage', async () => {
    const { t } = await filtered([await guest({ exports: { on_chunk: stars('events') } })], {
      upstream: [reply({ text: SAID, usage: { input: 123, output: 45 } })],
    })
    const { path, body } = ask('chat', 'messages/m', { stream: true })
    await (await t.post(path, body)).text()
    await t.untilSettled()
    expect(t.settled[0]?.outcome.usage).toMatchObject({ inputTotal: 123, outputTotal: 45 })
  })

  it('a filter of requests only leaves a stream its own bytes', async () => {
    const { t } = await filtered([await guest({ exports: { on_request: says('') } })], { upstream: [reply({ text: '## ##' })] })
    const { path, body } = ask('chat', 'chat/m', { stream: true })
    expect(saidBy(answerOf('chat', await (await t.post(path, body)).text(), true)).text).toBe('## ##')
    expect(t.settled[0]?.ctx.edited).toBe(false)
  })

  it.each(DIALECTS)('denies in the middle: %s ends with an error that says so', async (caller) => {
    const deny = { action: 'deny', status: 451, message: 'Not another word.' }
    let frames = ''
    // What is denied comes when the caller has what is not.
    const hold = (piece: string) => piece.includes('#') && until(() => frames.includes('Some words'))
    const { t } = await filtered([await guest({ exports: { on_chunk: when('####', says(deny)) } })], {
      upstream: [reply({ text: `Some words, so many that they are a piece. ${SAID}`, chunk: 40 }, { hold })],
    })
    const { path, body } = ask(caller, `${caller}/m`, { stream: true })
    const response = await t.post(path, body)
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) frames += Buffer.from(piece).toString()
    expect(frames).toContain('Some words')
    expect(frames).toContain('Not another word.')
    expect(frames).not.toContain('####')
    expect(frames).toMatch(ERROR_FRAME[caller])
  })
})

describe('what cannot stand for a stream fails it', () => {
  const part = { choice: 0, part: 0 }
  const CASES: Record<string, unknown[]> = {
    nothing: [],
    'an end of its own': [{ e: 'end' }, { e: 'end' }],
    'a delta of no part': [{ e: 'delta', choice: 0, part: 7, d: { text: 'x' } }],
    'usage of its own': [{ e: 'usage', usage: { outputTotal: 0 } }],
    'a part that is never ended': [{ e: 'part_start', ...part, kind: 'text', meta: {} }],
    'a delta of nothing': [{ e: 'delta', ...part, d: {} }],
    'an unknown event': [{ e: 'exit' }],
  }

  it.each(Object.entries(CASES))('%s', async (_name, events) => {
    const module = await guest({ exports: { on_chunk: says({ action: 'replace', events }) } })
    const { t, failures } = await filtered([module], { upstream: [reply({ text: 'Hello' })] })
    const { path, body } = ask('chat', 'messages/m', { stream: true })
    const response = await t.post(path, body)
    const frames = await response.text()
    if (response.status === 200) expect(frames).toMatch(ERROR_FRAME.chat)
    else expect(response.status).toBe(503)
    expect(await failures()).toEqual({ bad_output: 1 })
  })

  it('with fail-open the stream goes on without the filter', async () => {
    const module = await guest({ exports: { on_chunk: says({ action: 'replace', events: [] }) } })
    const { t, failures } = await filtered([module], { upstream: [reply({ text: 'Hello', chunk: 1 })], failOpen: true })
    const { path, body } = ask('chat', 'messages/m', { stream: true })
    const frames = await (await t.post(path, body)).text()
    expect(saidBy(answerOf('chat', frames, true)).text).toBe('Hello')
    expect(await failures()).toEqual({ bad_output: 1 })
  })
})
