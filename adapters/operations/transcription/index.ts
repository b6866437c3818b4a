// POST /v1/audio/transcriptions and /v1/audio/translations.
import { z } from 'zod'
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import { decodeAudio, encodeTranscription, FORMATS, promptOf, transcript } from './caller.ts'
import { deepgramTranscription, elevenlabsTranscription, openaiTranscription } from './vendors.ts'

const common = {
  bodyLimit: 'media',
  models: 'concrete',
  body: z.looseObject({
    model: z.string(),
    file: z.string().describe('The audio file.'),
    language: z.string().optional(),
    prompt: z.string().optional(),
    response_format: z.enum(FORMATS).optional(),
    temperature: z.number().optional(),
    stream: z.boolean().optional(),
  }),
} as const

export const transcription: OperationDriver<'transcription'> = {
  id: 'transcription',
  connections: 'first',
  routes: [
    {
      ...common,
      path: '/v1/audio/transcriptions',
      summary: 'Text of an audio file: `multipart/form-data`.',
      decodeForm: decodeAudio('transcribe'),
    },
    {
      ...common,
      path: '/v1/audio/translations',
      summary: 'English text of an audio file: `multipart/form-data`.',
      decodeForm: decodeAudio('translate'),
    },
  ],
  input: promptOf,
  output: transcript,
  // Transcriptions cost nothing here.
  estimate: () => ({}),
  encode: encodeTranscription,
  codecs: { openai: openaiTranscription, elevenlabs: elevenlabsTranscription, deepgram: deepgramTranscription },
}
