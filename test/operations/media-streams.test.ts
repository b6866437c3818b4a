// Streams of events of images, transcriptions and speech: what reaches the caller when the vendor's stream is broken, ends early, reports
// an error, or is no stream.
import { toFile } from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { frames, type Step } from '../../adapters/testing/script.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const event = (type: string, more: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const usage = { type: 'tokens', input_tokens: 7, output_tokens: 5, total_tokens: 12 }

const speech = () => v.t.post('/v1/audio/speech', { model: 'openai/tts', input: 'hi', voice: 'alloy', stream_format: 'sse' })
const image = () => v.t.post('/v1/images/generations', { model: 'openai/gpt-image-1', prompt: 'a cat', stream: true })

async function transcription(): Promise<Response> {
  const body = new FormData()
  body.set('model', 'openai/whisper-1')
  body.set('stream', 'true')
  body.set('file', await toFile(Buffer.from('a recording'), 'a.mp3', { type: 'audio/mpeg' }))
  return v.t.fetch('/v1/audio/transcriptions', { method: 'POST', body })
}

const STREAMS = [
  ['images', image, event('image_generation.partial_image', { b64_json: 'AAAA' }), 'image_generation.completed'],
  ['transcription', transcription, event('transcript.text.delta', { delta: 'hé' }), 'transcript.text.done'],
  ['speech', speech, event('speech.audio.delta', { audio: 'AAAA' }), 'speech.audio.done'],
] as const

async function answered(upstream: Step, ask: () => Promise<Response>) {
  v = await vendors(['openai'], { upstream: [upstream] })
  const text = await (await ask()).text()
  await v.t.untilSettled(1)
  const last = (): { type?: string; error?: { message: string } } =>
    JSON.parse(/^data: (.*)$/m.exec(text.trimEnd().split('\n\n').at(-1) ?? '')?.[1] ?? 'null')
  return { text, last, outcome: v.t.settled[0]?.outcome }
}

describe.each(STREAMS)('%s', (_, ask, first, lastType) => {
  const whole = event(lastType, { usage })
  const half = whole.slice(0, whole.length - 30)

  it.each([1, 5, 4096])('arrives as it was sent, in writes of %i bytes', async (splitBytes) => {
    const { text, outcome } = await answered(frames([first, whole], { splitBytes }), ask)
    expect(text).toBe(first + whole)
    expect(outcome).toMatchObject({ status: 200, usage: { inputTotal: 7, outputTotal: 5 } })
  })

  it('a connection that breaks inside an event: that event is left out, and an error follows', async () => {
    const { text, last, outcome } = await answered(
      frames([first, half, 'x'], { everyMs: 5, cut: { after: 2, how: 'reset' } }),
      ask,
    )
    expect(text.startsWith(`${first}event: error\n`)).toBe(true)
    expect(last()).toMatchObject({ type: 'error', error: { type: 'api_error', code: 'upstream_error' } })
    expect(outcome).toMatchObject({ status: 502, aborted: false })
  })

  it.each([
    ['after an event', [first]],
    ['inside an event', [first, half]],
  ])('a stream that ends early, %s, is an error', async (_where, list) => {
    const { text, last, outcome } = await answered(frames(list), ask)
    expect(text.startsWith(`${first}event: error\n`)).toBe(true)
    expect(last().error?.message).toContain('early')
    expect(outcome?.status).toBe(502)
  })

  it('the last event may lack its blank line', async () => {
    const { last, outcome } = await answered(frames([first, whole.trimEnd()]), ask)
    expect(last()).toMatchObject({ type: lastType })
    expect(outcome?.status).toBe(200)
  })

  it.each([
    ['an event `error`', event('error', { error: { message: 'moderated' } })],
    ['an object `error`', 'data: {"error":{"message":"moderated"}}\n\n'],
    ['a message beside the type', event('error', { message: 'moderated' })],
  ])('an error of the vendor passes on, and the row has it: %s', async (_form, failed) => {
    const { text, outcome } = await answered(frames([first, failed]), ask)
    expect(text).toBe(first + failed)
    expect(outcome).toMatchObject({ status: 502, error: { message: 'moderated' } })
  })
})

it('a stream in another form ends as the vendor ends it', async () => {
  const chunks = ['data: {"object":"transcription.chunk","choices":[{"delta":{"content":"hi"}}]}\n\n', 'data: [DONE]\n\n']
  const { text, outcome } = await answered(frames(chunks), transcription)
  expect(text).toBe(chunks.join(''))
  expect(outcome?.status).toBe(200)
})

it('a vendor that ignores `stream` of a transcription: the gateway writes the events', async () => {
  const { text, outcome } = await answered(
    { kind: 'raw', status: 200, body: JSON.stringify({ text: 'hi', usage }) },
    transcription,
  )
  expect(text).toBe(event('transcript.text.delta', { delta: 'hi' }) + event('transcript.text.done', { text: 'hi', usage }))
  expect(outcome).toMatchObject({ status: 200, usage: { inputTotal: 7 } })
})

it('a vendor that ignores `stream_format` of speech: the gateway writes the events', async () => {
  const { text, outcome } = await answered(frames(['one', 'two'], { contentType: 'audio/mpeg' }), speech)
  const audio = Buffer.from('onetwo').toString('base64')
  expect(text).toBe(event('speech.audio.delta', { audio }) + event('speech.audio.done'))
  expect(outcome?.status).toBe(200)
})
