// A background response is followed while it runs: its events as they come, with the same numbers for every follower.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reply, type Step } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { type Storing, storingGateway } from './support.ts'

let t: TestGateway
let db: Db
let clock: Storing['clock']
let release = (): void => {}
afterEach(() => {
  release()
  return t.close()
})

interface Event {
  type: string
  sequence_number: number
  delta?: string
  response?: { id: string; status: string; output: { content: { text: string }[] }[] }
}

/** An upstream that sends each piece when the test lets it. */
function gated(): { step: Step; open(pieces?: number): void; sent(): number } {
  let left = 0
  let sent = 0
  const waiting: (() => void)[] = []
  release = () => open()
  function open(pieces = Number.MAX_SAFE_INTEGER): void {
    left += pieces
    for (const go of waiting.splice(0)) go()
  }
  const hold = async (): Promise<void> => {
    while (left === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    left--
    sent++
  }
  return {
    step: reply({ text: 'one two three four five six', chunk: 4 }, { hold }),
    sent: () => sent,
    open,
  }
}

async function begin(upstream: Step[]): Promise<void> {
  ;({ t, db, clock } = await storingGateway({ upstream }))
}

class Follower {
  readonly events: Event[] = []
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  ended = false

  async start(id: string, query = ''): Promise<this> {
    const response = await t.fetch(`/v1/responses/${id}?stream=true${query}`)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    this.#reader = response.body?.getReader()
    void this.#read()
    return this
  }

  async #read(): Promise<void> {
    let text = ''
    for (;;) {
      const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined }
      if (done) break
      text += new TextDecoder().decode(value)
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) if (frame.startsWith('event:')) this.events.push(JSON.parse(frame.slice(frame.indexOf('{'))))
    }
    this.ended = true
  }

  leave = () => this.#reader?.cancel()
  numbers = () => this.events.map(({ sequence_number }) => sequence_number)
  text = () => this.events.map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : '')).join('')
  last = () => this.events.at(-1)
}

async function until(is: () => boolean): Promise<void> {
  for (let round = 0; !is(); round++) {
    if (round > 1000) throw new Error('It did not come to this.')
    await sleep(2)
    await clock.advance(50)
  }
}

async function queued(model: string): Promise<string> {
  const response = await t.post('/v1/responses', { model, input: 'Count', background: true })
  return ((await response.json()) as { id: string }).id
}

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

describe.each(['chat', 'messages', 'generate_content', 'responses'])('over %s', (dialect) => {
  it('gets the deltas while it runs, and the rest after a broken connection', async () => {
    const upstream = gated()
    await begin([upstream.step])
    const id = await queued(`${dialect}/m`)
    const first = await new Follower().start(id)
    for (let piece = 1; !first.text().startsWith('one two'); piece++) {
      upstream.open(1)
      await until(() => upstream.sent() === piece || first.text().startsWith('one two'))
    }
    expect(first.text()).toMatch(/^one two/)
    expect(first.text()).not.toContain('six')
    expect(first.last()?.type).not.toBe('response.completed')
    const seen = first.last()?.sequence_number as number
    void first.leave()

    const second = await new Follower().start(id, `&starting_after=${seen}`)
    upstream.open()
    await until(() => second.ended)
    expect(second.last()).toMatchObject({ type: 'response.completed', response: { id, status: 'completed' } })
    expect([...first.numbers(), ...second.numbers()]).toEqual(upTo(seen + 1 + second.events.length))
    expect(first.text() + second.text()).toBe('one two three four five six')
    expect(JSON.stringify([first.events, second.events])).not.toMatch(/"(?:id|item_id)":"(?!\w+_gw)/)

    // After its end the numbers are the same.
    const third = await new Follower().start(id, `&starting_after=${seen}`)
    await until(() => third.ended)
    expect(third.events).toEqual(second.events)
    const whole = await new Follower().start(id)
    await until(() => whole.ended)
    expect(whole.numbers()).toEqual(upTo(whole.events.length))
    expect(whole.text()).toBe('one two three four five six')
    const beyond = await new Follower().start(id, '&starting_after=999999')
    await until(() => beyond.ended)
    expect(beyond.events).toEqual([second.last()])
  })
})

it('keeps the events of a run whose process is gone: the last one says that it failed', async () => {
  const upstream = gated()
  await begin([upstream.step])
  const id = await queued('chat/m')
  const before = await new Follower().start(id)
  upstream.open(4)
  await until(() => before.text().length > 0)
  await db.run(sql`UPDATE responses_state_runs SET lease_owner = 'gone', lease_until = 0`)
  await until(() => before.ended)
  expect(before.last()).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
  expect(before.numbers()).toEqual(upTo(before.events.length))
  const after = await new Follower().start(id)
  await until(() => after.ended)
  expect(after.events).toEqual(before.events)
})

it('ends with the failure of an upstream that breaks off', async () => {
  await begin([reply({ text: 'one two three four' }, { cut: { after: 4, how: 'reset' } })])
  const id = await queued('chat/m')
  const follower = await new Follower().start(id)
  await until(() => follower.ended)
  expect(follower.last()).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: expect.any(String) } },
  })
  expect(follower.numbers()).toEqual(upTo(follower.events.length))
})

it('says why an upstream refused', async () => {
  await begin([fail(400, { message: 'The tool is unknown.', code: 'bad_tool' })])
  const id = await queued('chat/m')
  const follower = await new Follower().start(id)
  await until(() => follower.ended)
  expect(JSON.stringify(follower.last())).toContain('The tool is unknown.')
})

it('stores the events sealed, and deletes them with the response', async () => {
  await begin([reply({ text: 'a secret answer' })])
  const id = await queued('chat/m')
  const follower = await new Follower().start(id)
  await until(() => follower.ended)
  const rows = () => db.all(sql`SELECT * FROM responses_state_events`)
  expect(await rows()).not.toHaveLength(0)
  expect(JSON.stringify(await rows())).not.toContain('secret')
  await t.fetch(`/v1/responses/${id}`, { method: 'DELETE' })
  expect(await rows()).toHaveLength(0)
})
