// POST /v1/audio/speech: text to speech, in the format of OpenAI.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { bytesToBase64 } from '../../../core/text/bytes.ts'
import type { EncodedAnswer, OperationDriver, TextsOf } from '../../../core/types/operations/operation.ts'
import type { SpeechRequest } from '../../../core/types/operations/operations.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { isObject, numberField, others, textField } from '../../dialects/shared/fields.ts'
import { modelOf } from '../embeddings/caller.ts'
import { NO_TEXTS } from '../shared/texts.ts'
import { googleSpeech } from './google.ts'
import { spokenUnits } from './spoken.ts'
import { deepgramSpeech, elevenlabsSpeech, openaiSpeech } from './vendors.ts'

const FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
const KNOWN = new Set(['model', 'input', 'voice', 'instructions', 'response_format', 'speed', 'stream_format'])
const MOST_CHARACTERS = 4096

/** @throws GatewayError 400 with `param`. */
function decode(body: WireBody): SpeechRequest {
  const json = body.json() as JsonObject
  const input = textField(json, 'input') ?? ''
  const characters = [...input].length
  if (characters === 0 || characters > MOST_CHARACTERS)
    throw GatewayError.invalid('input', `\`input\` must be a text of 1 to ${MOST_CHARACTERS} characters.`)
  const voice = isObject(json.voice) ? json.voice.id : json.voice
  if (typeof voice !== 'string' || voice === '') throw GatewayError.invalid('voice', '`voice` is required.')
  const format = textField(json, 'response_format')
  if (format !== undefined && !(FORMATS as readonly string[]).includes(format))
    throw GatewayError.invalid(
      'response_format',
      `\`response_format\` must be one of ${FORMATS.map((one) => `\`${one}\``).join(', ')}.`,
    )
  const speed = numberField(json, 'speed')
  if (speed !== undefined && !(speed >= 0.25 && speed <= 4))
    throw GatewayError.invalid('speed', '`speed` must be from 0.25 to 4.')
  const streamFormat = textField(json, 'stream_format') ?? 'audio'
  if (streamFormat !== 'audio' && streamFormat !== 'sse')
    throw GatewayError.invalid('stream_format', '`stream_format` must be `audio` or `sse`.')
  const instructions = textField(json, 'instructions')
  return {
    model: modelOf(json),
    input,
    voice,
    ...(format === undefined ? {} : { format }),
    sse: streamFormat === 'sse',
    ...(instructions === undefined ? {} : { instructions }),
    ...(speed === undefined ? {} : { speed }),
    extra: others(json, KNOWN) ?? {},
  }
}

const spoken: TextsOf<SpeechRequest> = {
  read: ({ input, instructions }) => (instructions === undefined ? [input] : [input, instructions]),
  replace: (request, [input = '', instructions]) => ({
    ...(request as SpeechRequest),
    input,
    ...(request.instructions === undefined ? {} : { instructions: instructions ?? '' }),
  }),
}

function asEvents(audio: Uint8Array): EncodedAnswer {
  const events = [{ type: 'speech.audio.delta', audio: bytesToBase64(audio) }, { type: 'speech.audio.done' }]
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return { contentType: 'text/event-stream; charset=utf-8', body }
}

export const speech: OperationDriver<'speech'> = {
  id: 'speech',
  connections: 'first',
  routes: [
    {
      path: '/v1/audio/speech',
      bodyLimit: 'default',
      models: 'concrete',
      summary: 'Speech from a text: audio bytes, or events with `stream_format: "sse"`.',
      decode,
      body: z.looseObject({
        model: z.string(),
        input: z.string().min(1).max(MOST_CHARACTERS),
        voice: z.string().min(1),
        response_format: z.enum(FORMATS).optional(),
        speed: z.number().min(0.25).max(4).optional(),
        stream_format: z.enum(['audio', 'sse']).optional(),
      }),
    },
  ],
  input: spoken,
  output: NO_TEXTS,
  estimate: (request) => ({ units: spokenUnits(request) }),
  encode: ({ audio, contentType }, { sse }) =>
    sse && contentType.startsWith('audio/') ? asEvents(audio as Uint8Array) : { contentType, body: audio },
  codecs: { openai: openaiSpeech, elevenlabs: elevenlabsSpeech, deepgram: deepgramSpeech, google: googleSpeech },
}
