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
