// Streams of images: each event is one line of megabytes.
import { afterEach, expect, it } from 'vitest'
import { frames } from '../../adapters/testing/script.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const USAGE = { input_tokens: 10, output_tokens: 20, total_tokens: 30 }
const ask = { model: 'openai/gpt-image-1', prompt: 'a cat', stream: true }

function event(type: string, more: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
}

const picture = (bytes: number) => 'A'.repeat(bytes)
const completed = (bytes: number, more: object = {}) =>
  event('image_generation.completed', { b64_json: picture(bytes), ...more, usage: USAGE })

it.each([300_000, 3_000_000])('passes an event of %i bytes on, and books its usage', async (bytes) => {
  v = await vendors(['openai'], { upstream: [frames([completed(bytes)])] })
  const { port } = await v.t.listen()
  const response = await fetch(`http://127.0.0.1:${port}/v1/images/generations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ask),
  })
  expect((await response.text()) === completed(bytes)).toBe(true)
  await v.t.untilSettled(1)
  expect(v.t.settled[0]?.outcome.usage).toMatchObject({ inputTotal: 10, outputTotal: 20, units: { images: 1 } })
})

it.each([1, 7, 1000])('finds the usage and the size in writes of %i bytes', async (splitBytes) => {
  const more = { size: '1536x1024', quality: 'high' }
  v = await vendors(['openai'], { upstream: [frames([completed(9_000, more)], { splitBytes })] })
  await (await v.t.post('/v1/images/generations', ask)).text()
  await v.t.untilSettled(1)
  expect(v.t.settled[0]?.outcome.usage).toMatchObject({ inputTotal: 10, units: { images: 1, ...more } })
})

it('sends a partial image on while the next one is made', async () => {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const partial = event('image_generation.partial_image', { b64_json: picture(100), partial_image_index: 0 })
  const hold = (piece: string) => (piece.includes('completed') ? released : undefined)
  v = await vendors(['openai'], { upstream: [frames([partial, completed(100)], { hold })] })
  const { body } = await v.t.post('/v1/images/generations', ask)
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  const first = await reader.read()
  expect(Buffer.from(first.value as Uint8Array).toString()).toBe(partial)
  release()
  let rest = ''
  for (let next = await reader.read(); !next.done; next = await reader.read()) rest += Buffer.from(next.value).toString()
  expect(rest).toBe(completed(100))
})

it.each([
  ['two finished images are two', [completed(50), completed(50)], undefined, 2],
  ['an error of the vendor costs nothing', [event('error', { error: { message: 'moderated' } })], undefined, 0],
  ['a stream that is cut costs what was asked for', [event('image_generation.partial_image', {}), 'x'], 1, 3],
])('%s', async (_, list, after, images) => {
  const cut = after === undefined ? {} : { everyMs: 5, cut: { after, how: 'reset' as const } }
  v = await vendors(['openai'], { upstream: [frames(list, cut)] })
  await (await v.t.post('/v1/images/generations', { ...ask, n: 3 })).text()
  await v.t.untilSettled(1)
  expect(v.t.settled[0]?.outcome.usage.units).toMatchObject({ images })
})

it('a vendor that answers JSON to a stream request: one event for each image', async () => {
  v = await vendors(['openai'], {
    upstream: [{ kind: 'raw', status: 200, body: JSON.stringify({ created: 5, data: [{ b64_json: 'AA' }] }) }],
  })
  const text = await (await v.t.post('/v1/images/generations', ask)).text()
  expect(text).toBe(
    'event: image_generation.completed\ndata: {"type":"image_generation.completed","created_at":5,"b64_json":"AA"}\n\n',
  )
})

it('a stream that is cut ends in an error event, and the request settles as 502', async () => {
  const partial = event('image_generation.partial_image', { b64_json: 'AAAA', partial_image_index: 0 })
  v = await vendors(['openai'], { upstream: [frames([partial, completed(9_000)], { cut: { after: 1, how: 'fin' } })] })
  const text = await (await v.t.post('/v1/images/generations', ask)).text()
  expect(text).toContain('event: error')
  await v.t.untilSettled(1)
  expect(v.t.settled[0]?.outcome).toMatchObject({ status: 502, aborted: false })
})
