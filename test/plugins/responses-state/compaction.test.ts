// Compaction items in stored conversations: a conversation is cut at its latest one, on upstreams of every dialect.
import { afterEach, describe, expect, it } from 'vitest'
import { choose, reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { said, statefulResponses } from '../../support/stateful-responses.ts'

interface Item {
  id: string
  type: string
  [member: string]: unknown
}
interface Answer {
  id: string
  output: Item[]
  error?: { code: string; message: string }
}

let t: TestGateway
afterEach(() => t.close())

async function open(upstream: Step[]): Promise<void> {
  t = await createTestGateway({ upstream })
}

async function send(body: object, path = '/v1/responses'): Promise<Answer> {
  const response = await t.post(path, body)
  const answer = (await response.json()) as Answer
  expect(response.status, JSON.stringify(answer)).toBe(200)
  await t.gateway.committed()
  return answer
}

const sent = () => t.upstream.requests.at(-1)?.text ?? ''
const TRIGGER = { type: 'compaction_trigger' }
const user = (content: string) => ({ role: 'user', content })

describe.each(['chat', 'messages', 'generate_content'])('over %s', (dialect) => {
  const model = `${dialect}/m`

  it('a chain is cut at the answer to a trigger', async () => {
    await open([reply({ text: 'The bug is in main.ts.' })])
    const first = await send({ model, input: 'Find the old bug.' })
    const second = await send({ model, previous_response_id: first.id, input: 'Where is it?' })
    const asked = t.upstream.requests.length
    const compacted = await send({ model, previous_response_id: second.id, input: [TRIGGER] })
    expect(compacted.output).toMatchObject([{ type: 'compaction', id: expect.stringMatching(/^cmp_gw/) }])
    expect(t.upstream.requests).toHaveLength(asked)
    const fourth = await send({ model, previous_response_id: compacted.id, input: 'Mend it.' })
    for (const text of ['Find the old bug.', 'Where is it?', 'main.ts', 'Mend it.']) expect(sent()).toContain(text)
    // The digest, and the new question.
    expect(sent().split('Find the old bug.')).toHaveLength(2)
    expect(sent()).not.toMatch(/gw1\.|compaction_trigger/)
    const before = promptOf(t.upstream.requests.at(-1)?.json)
    await send({ model, previous_response_id: fourth.id, input: 'Thanks.' })
    expect(promptOf(t.upstream.requests.at(-1)?.json).slice(0, before.length)).toEqual(before)
    const again = await send({ model, previous_response_id: fourth.id, input: [TRIGGER] })
    await send({ model, previous_response_id: again.id, input: 'Go on.' })
    for (const text of ['Find the old bug.', 'Mend it.', 'Go on.']) expect(sent()).toContain(text)
  })

  it('a reference finds the item', async () => {
    await open([reply({ text: 'The bug is in main.ts.' })])
    const first = await send({ model, input: 'Find the old bug.' })
    const { output } = await send({ model, previous_response_id: first.id, input: [TRIGGER] })
    const input = [{ type: 'item_reference', id: output[0]?.id }, user('Mend it.')]
    const next = await send({ model, input })
    for (const text of ['main.ts', 'Mend it.']) expect(sent()).toContain(text)
    await send({ model, previous_response_id: next.id, input: 'Thanks.' })
    for (const text of ['main.ts', 'Mend it.', 'Thanks.']) expect(sent()).toContain(text)
  })

  it('the shorter form of the compact endpoint continues a chain, and older turns are not sent', async () => {
    await open([reply({ text: 'The bug is in main.ts.' })])
    const first = await send({ model, input: [user('Find the old bug.'), ...steps(8)] })
    const short = await send({ model, previous_response_id: first.id, mode: 'heuristic' }, '/v1/responses/compact')
    expect(short.output.map(({ type }) => type)).toContain('compaction')
    const next = await send({ model, previous_response_id: first.id, input: [...short.output, user('Mend it.')] })
    expect(sent().split('Find the old bug.')).toHaveLength(2)
    expect(sent().split('content 0')).toHaveLength(2)
    await send({ model, previous_response_id: next.id, input: 'Thanks.' })
    expect(sent().split('Find the old bug.')).toHaveLength(2)
    for (const text of ['content 0', 'content 7', 'Mend it.', 'Thanks.']) expect(sent()).toContain(text)
  })

  it('a conversation is cut, and keeps the messages that belong to the shorter form', async () => {
    await open([reply({ text: 'Answer.' })])
    const { id: conversation } = await send({}, '/v1/conversations')
    await send({ model, conversation, input: 'A very old question.' })
    const items = [user('Find the old bug.'), ...steps(8)]
    const { output } = await send({ model, input: items, mode: 'heuristic' }, '/v1/responses/compact')
    await send(
      { items: [user('Left out.'), { role: 'assistant', content: 'Left out, too.' }] },
      `/v1/conversations/${conversation}/items`,
    )
    await send({ items: output }, `/v1/conversations/${conversation}/items`)
    await send({ model, conversation, input: 'Mend it.' })
    for (const text of ['Find the old bug.', 'content 0', 'content 7', 'Mend it.']) expect(sent()).toContain(text)
    expect(sent()).not.toMatch(/very old|Left out/)
    await send({ model, conversation, input: [TRIGGER] })
    await send({ model, conversation, input: 'Thanks.' })
    for (const text of ['Find the old bug.', 'Mend it.', 'Thanks.']) expect(sent()).toContain(text)
    expect(promptOf(t.upstream.requests.at(-1)?.json).length).toBeLessThanOrEqual(2)
  })
})

it('a conversation with an item of a vendor goes on elsewhere with all its turns', async () => {
  const vendor = statefulResponses((turn) =>
    turn === 2 ? [{ type: 'compaction', encrypted_content: 'of the vendor' }, said('Answer 2.')] : [said(`Answer ${turn}.`)],
  )
  await open([choose((request) => (request.dialect === 'responses' ? choices(vendor.step, request) : reply({ text: 'Ours.' })))])
  const first = await send({ model: 'responses/m', input: 'One' })
  const second = await send({ model: 'responses/m', previous_response_id: first.id, input: [user('Two'), TRIGGER] })
  expect(second.output[0]).toMatchObject({ type: 'compaction', id: expect.stringMatching(/_gw/) })
  const third = await send({ model: 'responses/m', previous_response_id: second.id, input: 'Three' })
  expect(t.upstream.requests.at(-1)?.json.previous_response_id).toMatch(/^resp_vendor/)
  await send({ model: 'chat/m', previous_response_id: third.id, input: 'Four' })
  for (const text of ['One', 'Answer 1.', 'Two', 'Answer 2.', 'Three', 'Answer 3.', 'Four']) expect(sent()).toContain(text)
  expect(sent()).not.toMatch(/of the vendor|compaction/)
})

it('over responses, an item of ours cuts the chain, too', async () => {
  await open([reply({ text: 'Answer.' })])
  const first = await send({ model: 'chat/m', input: 'Find the old bug.' })
  const compacted = await send({ model: 'chat/m', previous_response_id: first.id, input: [TRIGGER] })
  const next = await send({ model: 'responses/m', previous_response_id: compacted.id, input: 'Mend it.' })
  expect(sent().split('Find the old bug.')).toHaveLength(2)
  expect(sent()).not.toMatch(/gw1\.|compaction_trigger|_gw/)
  await send({ model: 'messages/m', previous_response_id: next.id, input: 'Thanks.' })
  for (const text of ['Find the old bug.', 'Mend it.', 'Thanks.']) expect(sent()).toContain(text)
})

it('the compact endpoint refuses the id of another caller or a forged one', async () => {
  await open([reply({ text: 'Answer.' })])
  const { id } = await send({ model: 'chat/m', input: 'Hello' })
  const forged = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const response = await t.post('/v1/responses/compact', { model: 'chat/m', previous_response_id: forged })
  expect([response.status, ((await response.json()) as Answer).error?.code]).toEqual([400, 'previous_response_not_found'])
})

function choices(step: Step, request: Parameters<Extract<Step, { kind: 'choose' }>['choose']>[0]): Step {
  return step.kind === 'choose' ? step.choose(request) : step
}

/** Turns of the model that read a file each. */
function steps(count: number): object[] {
  return Array.from({ length: count }, (_, n) => [
    { type: 'function_call', call_id: `c${n}`, name: 'read_file', arguments: `{"n":${n}}` },
    { type: 'function_call_output', call_id: `c${n}`, output: `content ${n}` },
  ]).flat()
}

function promptOf(json: Record<string, unknown> | undefined): unknown[] {
  return (json?.messages ?? json?.contents ?? json?.input) as unknown[]
}
