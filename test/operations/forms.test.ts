// Multipart forms: fields that are repeated, and files that are named twice.
import OpenAI, { toFile } from 'openai'
import { afterEach, expect, it } from 'vitest'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

const file = (name = 'a.mp3') => new Blob([name], { type: 'application/octet-stream' })

function form(...fields: [string, string | Blob][]): FormData {
  const made = new FormData()
  for (const [name, value] of fields) made.append(name, value)
  return made
}

/** Returns the values of a field that the vendor got, in order. */
function sentAs(name: string): string[] {
  const pattern = new RegExp(`name="${name.replace(/[[\]]/g, '\\$&')}"\\r\\n\\r\\n([^\\r]*)\\r\\n`, 'g')
  return [...(v.vendor.requests[0]?.text ?? '').matchAll(pattern)].map(([, value]) => value as string)
}

it('the SDK of OpenAI: every name and every reference of the known speakers arrives', async () => {
  v = await vendors(['openai'])
  const { port } = await v.t.listen()
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 })
  await client.audio.transcriptions.create({
    file: await toFile(Buffer.from('a recording'), 'a.mp3'),
    model: 'openai/gpt-4o-transcribe-diarize',
    known_speaker_names: ['ann', 'bob'],
    known_speaker_references: ['data:audio/wav;base64,AA==', 'data:audio/wav;base64,BB=='],
    chunking_strategy: 'auto',
  })
  expect(sentAs('known_speaker_names[]')).toEqual(['ann', 'bob'])
  expect(sentAs('known_speaker_references[]')).toEqual(['data:audio/wav;base64,AA==', 'data:audio/wav;base64,BB=='])
  expect(sentAs('chunking_strategy')).toEqual(['auto'])
})

it.each([
  ['elevenlabs', '/v1/audio/transcriptions', 'file'],
  ['openai', '/v1/images/edits', 'image'],
])('a repeated field that is not known here, at %s', async (provider, path, name) => {
  v = await vendors([provider])
  const body = form(['model', `${provider}/m`], ['prompt', 'x'], [name, file()], ['tag', 'one'], ['tag', 'two'], ['note', 'ü'])
  const response = await v.t.fetch(path, { method: 'POST', body })
  expect(response.status, await response.clone().text()).toBe(200)
  expect([sentAs('tag'), sentAs('note')]).toEqual([['one', 'two'], ['ü']])
})

it('names of members that objects inherit are fields like any other', async () => {
  v = await vendors(['openai'])
  const names = ['__proto__', 'constructor', 'toString']
  const body = form(['model', 'openai/w'], ['file', file()], ...names.map((name): [string, string] => [name, 'x']))
  expect((await v.t.fetch('/v1/audio/transcriptions', { method: 'POST', body })).status).toBe(200)
  expect(names.map(sentAs)).toEqual([['x'], ['x'], ['x']])
})

it.each([
  ['/v1/audio/transcriptions', 'file', form(['model', 'openai/w'], ['file', file('a')], ['file', file('b')])],
  [
    '/v1/images/edits',
    'mask',
    form(['model', 'openai/i'], ['prompt', 'x'], ['image', file()], ['mask', file('a')], ['mask', file('b')]),
  ],
])('%s refuses a second %s: only one of them would be used', async (path, param, body) => {
  v = await vendors(['openai'])
  const response = await v.t.fetch(path, { method: 'POST', body })
  expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }])
  expect(v.vendor.requests).toHaveLength(0)
})
