// Speech, transcriptions, translations and voices: the official SDKs, and what each vendor is sent.
import { createOpenAI } from '@ai-sdk/openai'
import { experimental_generateSpeech as generateSpeech, experimental_transcribe as transcribe } from 'ai'
import OpenAI, { toFile } from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { SCRIPTED_AUDIO, SCRIPTED_TEXT } from '../../adapters/testing/operations/audio.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

async function openai(): Promise<OpenAI> {
  const { port } = await v.t.listen()
  return new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 })
}
const speak = (body: object) =>
  v.t.post('/v1/audio/speech', { model: 'openai/tts-1', input: 'héllo 😀', voice: 'alloy', ...body })
const recording = () => toFile(Buffer.from('a recording'), 'a.mp3', { type: 'audio/mpeg' })
const sent = (at = 0) => v.vendor.requests[at]
const paramOf = async (response: Response) => ((await response.json()) as { error: { param: string } }).error.param

describe('speech', () => {
  it('the SDK of OpenAI: bytes in every format, and events', async () => {
    v = await vendors(['openai'])
    const client = await openai()
    for (const [format, type] of [
      ['mp3', 'audio/mpeg'],
      ['wav', 'audio/wav'],
      ['opus', 'audio/ogg'],
      ['pcm', 'audio/pcm'],
    ] as const) {
      const made = await client.audio.speech.create({
        model: 'openai/tts-1',
        input: 'hi',
        voice: 'alloy',
        response_format: format,
      })
      expect(made.headers.get('content-type')).toBe(type)
      expect(Buffer.from(await made.arrayBuffer())).toEqual(SCRIPTED_AUDIO)
    }
    expect(sent()?.json).toEqual({ model: 'tts-1', input: 'hi', voice: 'alloy', response_format: 'mp3' })
    const events = await (await speak({ stream_format: 'sse' })).text()
    expect(events).toContain('event: speech.audio.delta')
    await v.t.untilSettled(5)
    expect(v.t.settled.at(-1)?.outcome.usage).toMatchObject({ inputTotal: 3, outputTotal: 40, units: { characters: 7 } })
  })

  it('the AI SDK speaks', async () => {
    v = await vendors(['openai'])
    const { port } = await v.t.listen()
    const model = createOpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` }).speech('openai/tts-1')
    const { audio } = await generateSpeech({ model, text: 'hi', voice: 'alloy' })
    expect(Buffer.from(audio.uint8Array)).toEqual(SCRIPTED_AUDIO)
  })

  it.each([
    ['elevenlabs', '/v1/text-to-speech/v%2F1/stream?output_format=mp3_44100_128', { text: 'hi', model_id: 'm' }, 'xi-api-key'],
    ['deepgram', '/v1/speak?model=aura-2-thalia-en&encoding=mp3', { text: 'hi' }, 'authorization'],
  ])('%s', async (provider, path, body, header) => {
    v = await vendors([provider])
    const model = provider === 'deepgram' ? 'aura-2-thalia-en' : 'm'
    const response = await speak({ model: `${provider}/${model}`, input: 'hi', voice: 'v/1' })
    expect(response.status, await response.clone().text()).toBe(200)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(SCRIPTED_AUDIO)
    expect(sent()).toMatchObject({ path, json: body })
    expect(sent()?.headers[header]).toContain(`sk-${provider}`)
  })

  it('google: samples as WAV or as they are', async () => {
    v = await vendors(['google'])
    const google = { model: 'google/gemini-2.5-flash-preview-tts', input: 'hi', voice: 'Kore' }
    const wav = await speak(google)
    expect(wav.headers.get('content-type')).toBe('audio/wav')
    expect(wav.headers.get('x-gateway-warnings')).toBe('response_format_wav')
    const bytes = Buffer.from(await wav.arrayBuffer())
    expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(24), bytes.readUInt32LE(40)]).toEqual([
      'RIFF',
      24_000,
      SCRIPTED_AUDIO.length,
    ])
    expect(bytes.subarray(44)).toEqual(SCRIPTED_AUDIO)
    expect(sent()).toMatchObject({
      path: '/v1beta/models/gemini-2.5-flash-preview-tts:generateContent',
      json: {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
        },
      },
    })
    const pcm = await speak({ ...google, response_format: 'pcm' })
    expect(pcm.headers.get('content-type')).toBe('audio/pcm')
    expect(Buffer.from(await pcm.arrayBuffer())).toEqual(SCRIPTED_AUDIO)
    expect(await paramOf(await speak({ ...google, response_format: 'mp3' }))).toBe('response_format')
  })

  it.each([
    [{ input: '' }, 'input'],
    [{ input: 'x'.repeat(4097) }, 'input'],
    [{ voice: undefined }, 'voice'],
    [{ response_format: 'midi' }, 'response_format'],
    [{ speed: 5 }, 'speed'],
    [{ stream_format: 'x' }, 'stream_format'],
  ])('refuses %j', async (body, param) => {
    v = await vendors(['openai'])
    expect(await paramOf(await speak(body))).toBe(param)
    expect(v.vendor.requests).toHaveLength(0)
  })

  it('uses the first connection only', async () => {
    v = await vendors(['openai'], {
      upstream: [
        { kind: 'fail', status: 500, message: 'down' },
        { kind: 'reply', reply: {} },
      ],
    })
    await v.t.post('/api/providers', { provider: 'openai', base_url: v.vendor.baseUrl('chat'), api_key: 'k' })
    expect((await speak({})).status).toBe(500)
    expect(v.vendor.requests).toHaveLength(1)
  })

  it('ends the upstream call when the caller leaves in mid-stream', async () => {
    v = await vendors(['openai'], {
      upstream: [{ kind: 'frames', frames: ['first', 'second'], stallAfter: 1, contentType: 'audio/mpeg' }],
    })
    const { port } = await v.t.listen()
    const leaving = new AbortController()
    const response = await fetch(`http://127.0.0.1:${port}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'openai/tts-1', input: 'hi', voice: 'alloy' }),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    await v.t.untilSettled(1)
    expect(v.t.settled[0]?.outcome.status).toBe(499)
    for (let tries = 0; tries < 100 && sent()?.abortedAt === null; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20))
    expect(sent()?.abortedAt).not.toBeNull()
  })
})

describe('transcriptions', () => {
  it('the SDK of OpenAI, in every format and streamed', async () => {
    v = await vendors(['openai'])
    const client = await openai()
    const create = async (format: 'json' | 'text' | 'srt' | 'vtt' | 'verbose_json') =>
      client.audio.transcriptions.create({
        file: await recording(),
        model: 'openai/whisper-1',
        response_format: format,
        timestamp_granularities: ['word', 'segment'],
        language: 'en',
      }) as Promise<unknown>
    expect(await create('json')).toMatchObject({ text: SCRIPTED_TEXT })
    expect(sent()?.text).toContain('name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\na recording\r\n')
    expect(sent()?.text.match(/name="timestamp_granularities\[\]"/g)).toHaveLength(2)
    expect(sent()?.text).toContain('name="model"\r\n\r\nwhisper-1')
    expect(await create('text')).toBe(`${SCRIPTED_TEXT}\n`)
    expect(await create('srt')).toContain('00:00:00,000 --> 00:00:05,000')
    expect(await create('vtt')).toContain('WEBVTT')
    expect(await create('verbose_json')).toMatchObject({ duration: 5, segments: [{ text: SCRIPTED_TEXT }] })
    const types: string[] = []
    const stream = await client.audio.transcriptions.create({
      file: await recording(),
      model: 'openai/gpt-4o-transcribe',
      stream: true,
    })
    for await (const event of stream) types.push(event.type)
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done'])
    const translated = await client.audio.translations.create({ file: await recording(), model: 'openai/whisper-1' })
    expect(translated.text).toBe(SCRIPTED_TEXT)
    expect(sent(6)?.path).toBe('/v1/audio/translations')
    await v.t.untilSettled(7)
    expect(v.t.settled.map(({ outcome }) => outcome.costNano)).toEqual(Array.from({ length: 7 }, () => 0))
  })

  it('the AI SDK transcribes', async () => {
    v = await vendors(['openai'])
    const { port } = await v.t.listen()
    const model = createOpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` }).transcription('openai/whisper-1')
    expect((await transcribe({ model, audio: Buffer.from('a recording') })).text).toBe(SCRIPTED_TEXT)
  })

  it.each(['elevenlabs', 'deepgram'])('%s: every format of OpenAI', async (provider) => {
    v = await vendors([provider])
    const client = await openai()
    const create = async (format: 'json' | 'text' | 'srt' | 'vtt' | 'verbose_json') =>
      client.audio.transcriptions.create({
        file: await recording(),
        model: `${provider}/m`,
        response_format: format,
        timestamp_granularities: ['word'],
      }) as Promise<unknown>
    expect(await create('json')).toEqual({ text: SCRIPTED_TEXT })
    expect(await create('text')).toBe(`${SCRIPTED_TEXT}\n`)
    expect(await create('srt')).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\nHello there.\n\n2\n00:00:02,000 --> 00:00:04,500\nHow are you?\n',
    )
    expect(await create('vtt')).toContain('WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello there.')
    expect(await create('verbose_json')).toMatchObject({
      task: 'transcribe',
      language: 'en',
      segments: [{ id: 0, text: 'Hello there.' }, { id: 1 }],
      words: [{ word: 'Hello', start: 0, end: 0.5 }, {}, {}, {}, {}],
    })
    if (provider === 'deepgram')
      expect(sent()).toMatchObject({ path: '/v1/listen?model=m&smart_format=true&detect_language=true', text: 'a recording' })
    else expect(sent()?.text).toContain('name="model_id"\r\n\r\nm')
  })

  it('a plugin that reads the answer gets the text, also of a stream', async () => {
    const seen: string[] = []
    const shout = definePlugin({
      name: 'shout',
      setup(gateway) {
        gateway.hook(
          'response',
          (_ctx, answer) => {
            seen.push(answer.text)
            return { ...answer, text: answer.text.toUpperCase() }
          },
          { operation: 'transcription' },
        )
      },
    })
    v = await vendors(['openai'], { plugins: [shout()] })
    const client = await openai()
    const one = await client.audio.transcriptions.create({ file: await recording(), model: 'openai/w' })
    expect(one.text).toBe(SCRIPTED_TEXT.toUpperCase())
    let text = ''
    for await (const event of await client.audio.transcriptions.create({
      file: await recording(),
      model: 'openai/w',
      stream: true,
    }))
      if (event.type === 'transcript.text.delta') text += event.delta
    expect(text).toBe(SCRIPTED_TEXT.toUpperCase())
    expect(seen).toEqual([SCRIPTED_TEXT, SCRIPTED_TEXT])
  })

  it('refuses a form without a file, with a wrong format, and without a model', async () => {
    v = await vendors(['openai'])
    const post = (fields: Record<string, string | Blob>) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      return v.t.fetch('/v1/audio/transcriptions', { method: 'POST', body: form })
    }
    const file = new Blob(['x'])
    expect(await paramOf(await post({ model: 'openai/w' }))).toBe('file')
    expect(await paramOf(await post({ file }))).toBe('model')
    expect(await paramOf(await post({ file, model: 'openai/w', response_format: 'xml' }))).toBe('response_format')
    expect(await paramOf(await post({ file, model: 'openai/w', temperature: 'hot' }))).toBe('temperature')
    expect(v.vendor.requests).toHaveLength(0)
  })
})

describe('voices', () => {
  it('of the connected providers; none without one', async () => {
    v = await vendors(['openai', 'elevenlabs', 'anthropic'])
    const list = async (query = '') =>
      ((await (await v.t.fetch(`/v1/audio/voices${query}`)).json()) as { data: { provider: string }[] }).data
    const all = await list()
    expect(all.filter(({ provider }) => provider === 'openai').length).toBeGreaterThan(10)
    expect(all.filter(({ provider }) => provider === 'elevenlabs')).toEqual([
      { id: 'v1', name: 'Rachel', provider: 'elevenlabs', gender: 'female', language: 'en' },
    ])
    expect(await list('?provider=elevenlabs')).toHaveLength(1)
    expect(await list('?provider=anthropic')).toEqual([])
  })

  it('of Google: its prebuilt ones, each of which its speech takes', async () => {
    v = await vendors(['google'])
    const response = await v.t.fetch('/v1/audio/voices?provider=google')
    const { data } = (await response.json()) as { data: { id: string; name: string }[] }
    expect(data).toHaveLength(30)
    expect(new Set(data.map(({ id }) => id)).size).toBe(30)
    expect(data).toContainEqual({ id: 'Kore', name: 'Kore', provider: 'google', labels: { style: 'Firm' } })
    const voice = data.at(-1)?.id as string
    expect((await speak({ model: 'google/gemini-2.5-flash-preview-tts', voice })).status).toBe(200)
    expect(sent()?.text).toContain(`"voiceName":"${voice}"`)
  })
})
