// Scripted answers of image vendors.
import type { RecordedRequest, Step } from '../script.ts'
import { frames, raw } from '../script.ts'

type Json = Record<string, unknown>

/** The bytes of every scripted image, base64. */
export const SCRIPTED_IMAGE = Buffer.from('scripted image').toString('base64')

const json = (body: unknown): Step => raw(200, JSON.stringify(body), { contentType: 'application/json' })

export const IMAGE_ANSWERS: readonly (readonly [RegExp, (json: Json, request: RecordedRequest) => Step])[] = [
  [/\/images\/(?:generations|edits|variations)$/, openai],
  [/:predict$/, ({ parameters }) => predictions(Number((parameters as Json).sampleCount ?? 1))],
  [
    /imag[a-z0-9.-]*:generateContent$|image[^/]*:generateContent$/,
    () => json({ candidates: [{ content: { parts: [INLINE] } }] }),
  ],
  [/\/stable-image\/generate\//, () => json({ image: SCRIPTED_IMAGE, finish_reason: 'SUCCESS', seed: 1 })],
  [/\/flux-[^/]*$/, (_json, { headers }) => json({ id: 'job', polling_url: `http://${headers.host}/v1/get_result?id=job` })],
  [/\/get_result$/, () => json({ id: 'job', status: 'Ready', result: { sample: 'https://delivery.example.com/a.png' } })],
]

const INLINE = { inlineData: { mimeType: 'image/png', data: SCRIPTED_IMAGE } }

function predictions(count: number): Step {
  return json({
    predictions: Array.from({ length: count }, () => ({ bytesBase64Encoded: SCRIPTED_IMAGE, mimeType: 'image/png' })),
  })
}

function openai(given: Json, { text }: RecordedRequest): Step {
  const field = (name: string) => new RegExp(`name="${name}"\\r\\n\\r\\n([^\\r]*)`).exec(text)?.[1]
  const count = Number(given.n ?? given.batch_size ?? field('n') ?? 1)
  const url = (given.response_format ?? field('response_format')) === 'url'
  const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 }
  if (given.stream === true || field('stream') === 'true') {
    const partial = { type: 'image_generation.partial_image', b64_json: SCRIPTED_IMAGE, partial_image_index: 0 }
    const completed = { type: 'image_generation.completed', b64_json: SCRIPTED_IMAGE, usage }
    return frames([partial, completed].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
  }
  const image = url ? { url: 'https://example.com/a.png' } : { b64_json: SCRIPTED_IMAGE }
  const data = Array.from({ length: count }, () => image)
  return json({ created: 1, data, images: data.map(() => ({ url: 'https://example.com/a.png' })) })
}
