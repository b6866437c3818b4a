// Scripted answers of audio vendors.
import type { RecordedRequest, Step } from '../script.ts'
import { frames, raw } from '../script.ts'

type Json = Record<string, unknown>

/** The bytes of every scripted speech. */
export const SCRIPTED_AUDIO = Buffer.from('scripted audio')
/** The text of every scripted transcription. */
export const SCRIPTED_TEXT = 'Hello there. How are you?'

const WORDS = SCRIPTED_TEXT.split(' ').map((word, at) => ({ word, start: at, end: at + 0.5 }))

const json = (body: unknown): Step => raw(200, JSON.stringify(body), { contentType: 'application/json' })
const audio = (): Step => raw(200, SCRIPTED_AUDIO, { contentType: 'audio/mpeg' })
const event = (data: { type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

export const AUDIO_ANSWERS: readonly (readonly [RegExp, (json: Json, request: RecordedRequest) => Step])[] = [
  [/\/audio\/speech$/, (given) => (given.stream_format === 'sse' ? speechEvents() : audio())],
  [/\/text-to-speech\/[^/]+\/stream$|\/speak$/, audio],
  [/tts[^/]*:generateContent$/, () => json(samples())],
  [/\/audio\/(?:transcriptions|translations)$/, transcribed],
  [
    /\/speech-to-text$/,
    () =>
      json({
        language_code: 'en',
        text: SCRIPTED_TEXT,
        words: WORDS.map(({ word, ...at }) => ({ text: word, type: 'word', ...at })),
      }),
  ],
  [/\/listen$/, () => json(deepgram())],
  [
    /\/v2\/voices$/,
    () => json({ voices: [{ voice_id: 'v1', name: 'Rachel', labels: { gender: 'female', language: 'en' } }], has_more: false }),
  ],
]

function samples(): Json {
  const inlineData = { mimeType: 'audio/L16;codec=pcm;rate=24000', data: SCRIPTED_AUDIO.toString('base64') }
  const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 50, totalTokenCount: 54 }
  return { candidates: [{ content: { role: 'model', parts: [{ inlineData }] }, finishReason: 'STOP' }], usageMetadata }
}

function speechEvents(): Step {
  const usage = { input_tokens: 3, output_tokens: 40, total_tokens: 43 }
  const audio = SCRIPTED_AUDIO.toString('base64')
  return frames([event({ type: 'speech.audio.delta', ...{ audio } }), event({ type: 'speech.audio.done', ...{ usage } })])
}

function transcribed(_given: Json, { text }: RecordedRequest): Step {
  const field = (name: string) => new RegExp(`name="${name}"\\r\\n\\r\\n([^\\r]*)`).exec(text)?.[1]
  const format = field('response_format') ?? 'json'
  const usage = { type: 'duration', seconds: 5 }
  if (field('stream') === 'true')
    return frames([
      event({ type: 'transcript.text.delta', ...{ delta: SCRIPTED_TEXT } }),
      event({
        type: 'transcript.text.done',
        ...{ text: SCRIPTED_TEXT, usage: { type: 'tokens', input_tokens: 5, output_tokens: 6 } },
      }),
    ])
  const plain = (body: string): Step => raw(200, body, { contentType: 'text/plain; charset=utf-8' })
  if (format === 'text') return plain(`${SCRIPTED_TEXT}\n`)
  if (format === 'srt') return plain(`1\n00:00:00,000 --> 00:00:05,000\n${SCRIPTED_TEXT}\n`)
  if (format === 'vtt') return plain(`WEBVTT\n\n00:00:00.000 --> 00:00:05.000\n${SCRIPTED_TEXT}\n`)
  if (format === 'verbose_json')
    return json({ task: 'transcribe', language: 'english', duration: 5, text: SCRIPTED_TEXT, segments: [SEGMENT], words: WORDS })
  return json({ text: SCRIPTED_TEXT, usage })
}

const SEGMENT = { id: 0, start: 0, end: 5, text: SCRIPTED_TEXT, tokens: [1], avg_logprob: -0.1 }

function deepgram(): Json {
  const alternative = {
    transcript: SCRIPTED_TEXT,
    words: WORDS.map(({ word, ...at }) => ({ word: word.toLowerCase(), punctuated_word: word, ...at })),
  }
  return { metadata: { duration: 5 }, results: { channels: [{ detected_language: 'en', alternatives: [alternative] }] } }
}
