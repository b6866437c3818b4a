// POST /v1/images/generations, /v1/images/edits and /v1/images/variations.
import { z } from 'zod'
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import { NO_TEXTS } from '../shared/texts.ts'
import { decodeGeneration, decodeUpload, encodeImages, promptText } from './caller.ts'
import { googleImages } from './google.ts'
import { openaiImages } from './openai.ts'
import { bflImages } from './polled.ts'
import { RATIOS } from './sizes.ts'
import { stabilityImages } from './stability.ts'

const response = z.looseObject({
  created: z.int(),
  data: z.array(z.looseObject({ url: z.string().optional(), b64_json: z.string().optional() })),
})
const options = {
  model: z.string(),
  n: z.int().min(1).max(10).optional(),
  size: z.string().optional(),
  quality: z.string().optional(),
  response_format: z.enum(['url', 'b64_json']).optional(),
  stream: z.boolean().optional(),
}
const upload = z.looseObject({
  ...options,
  prompt: z.string().min(1),
  image: z.string().describe('A file, or several as `image[]`.'),
})
const common = { models: 'image', response, streamed: true } as const

export const images: OperationDriver<'images'> = {
  id: 'images',
  connections: 'all',
  routes: [
    {
      ...common,
      path: '/v1/images/generations',
      bodyLimit: 'default',
      summary: 'Images from a text, in the format of OpenAI.',
      decode: decodeGeneration,
      body: z.looseObject({ ...options, prompt: z.string().min(1) }),
    },
    {
      ...common,
      path: '/v1/images/edits',
      bodyLimit: 'media',
      summary: 'Changes images: `multipart/form-data`.',
      decodeForm: decodeUpload('edit'),
      body: upload,
    },
    {
      ...common,
      path: '/v1/images/variations',
      bodyLimit: 'media',
      summary: 'Variations of an image: `multipart/form-data`.',
      decodeForm: decodeUpload('vary'),
      body: upload.omit({ prompt: true }),
    },
  ],
  input: promptText,
  output: NO_TEXTS,
  estimate: ({ count, size, quality }) => ({
    units: { images: count, ...(size === undefined ? {} : { size }), ...(quality === undefined ? {} : { quality }) },
  }),
  encode: encodeImages,
  codecs: {
    openai: openaiImages(),
    xai: openaiImages({ ratios: RATIOS.xai }),
    together: openaiImages({ pixels: true, base64: 'base64' }),
    siliconflow: openaiImages({ list: 'images', size: 'image_size', count: 'batch_size' }),
    google: googleImages,
    bfl: bflImages,
    stability: stabilityImages,
  },
}
