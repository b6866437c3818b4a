// Images: exactly what each vendor is sent, and what is refused or left out with a warning.
import { afterEach, describe, expect, it } from 'vitest'
import { RATIOS, ratioOf } from '../../adapters/operations/images/sizes.ts'
import type { RecordedRequest, Step } from '../../adapters/testing/script.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v?.close())

const sent = (at = 0) => v.vendor.requests[at] as RecordedRequest
const warnings = (response: Response) => response.headers.get('x-gateway-warnings')
const path = '/v1/images/generations'

async function generated(model: string, more: object, options: Parameters<typeof vendors>[1] = {}): Promise<Response> {
  v = await vendors([model.split('/')[0] as string], options)
  const response = await v.t.post(path, { model, prompt: 'a cat', ...more })
  await response.clone().arrayBuffer()
  return response
}

async function edited(model: string, files: number, more: Record<string, string | Blob> = {}): Promise<Response> {
  v = await vendors([model.split('/')[0] as string])
  const form = new FormData()
  form.set('model', model)
  form.set('prompt', 'a hat')
  for (let at = 0; at < files; at++) form.append('image[]', new Blob([`image ${at}`], { type: 'image/png' }), `${at}.png`)
  for (const [name, value] of Object.entries(more)) form.set(name, value)
  return v.t.fetch('/v1/images/edits', { method: 'POST', body: form })
}

const whole = (images: readonly object[], more: object = {}): Step => ({
  kind: 'raw',
  status: 200,
  body: JSON.stringify({ created: 1, data: images, ...more }),
})

describe('OpenAI-like vendors', () => {
  it('an unchanged body keeps its bytes but for the model', async () => {
    v = await vendors(['openai'])
    const body = (model: string) => `{"prompt":"a cat", "n":1,"user":null,"seed":12345678901234567890,"model":"${model}"}`
    await v.t.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: body('openai/dall-e-2') })
    expect(sent().text).toBe(body('dall-e-2'))
  })

  it.each(['gpt-image-1', 'gpt-image-1-mini', 'chatgpt-image-latest'])('%s: no response_format and no style', async (model) => {
    const response = await generated(`openai/${model}`, { response_format: 'b64_json', style: 'vivid', background: 'opaque' })
    expect(sent().json).toEqual({ model, prompt: 'a cat', background: 'opaque' })
    expect(warnings(response)).toBe('unsupported_image_fields')
  })

  it('dall-e-3 keeps them', async () => {
    const response = await generated('openai/dall-e-3', { response_format: 'b64_json', style: 'vivid' })
    expect(sent().json).toMatchObject({ response_format: 'b64_json', style: 'vivid' })
    expect(warnings(response)).toBeNull()
  })

  it('a URL asked for and data given: b64_json, with a warning', async () => {
    const response = await generated('openai/gpt-image-1', { response_format: 'url' })
    expect(Object.keys(((await response.json()) as { data: object[] }).data[0] as object)).toEqual(['b64_json'])
    expect(warnings(response)?.split(',')).toEqual(['unsupported_image_fields', 'response_format_b64_json'])
  })

  it('data asked for and a URL given: url, with a warning', async () => {
    const upstream = [whole([{ url: 'https://example.com/a.png' }])]
    const response = await generated('openai/dall-e-2', { response_format: 'b64_json' }, { upstream })
    expect(((await response.json()) as { data: object[] }).data).toEqual([{ url: 'https://example.com/a.png' }])
    expect(warnings(response)).toBe('response_format_url')
  })

  it('size and quality of the answer are billed, and tokens are counted', async () => {
    const more = { size: '1536x1024', quality: 'high', usage: { input_tokens: 7, output_tokens: 9, total_tokens: 16 } }
    await generated('openai/gpt-image-1', { size: 'auto' }, { upstream: [whole([{ b64_json: 'AA' }], more)] })
    expect(v.t.settled[0]?.outcome.usage).toMatchObject({
      inputTotal: 7,
      outputTotal: 9,
      units: { images: 1, size: '1536x1024', quality: 'high' },
    })
  })

  it('no tokens without a report of the vendor', async () => {
    await generated('openai/dall-e-2', { quality: 'hd', size: '512x512' })
    expect(v.t.settled[0]?.outcome.usage).toMatchObject({ total: 0, units: { images: 1, size: '512x512', quality: 'hd' } })
  })

  it('fewer images than asked: the ones that came are billed', async () => {
    await generated('openai/dall-e-2', { n: 4 }, { upstream: [whole([{ url: 'https://example.com/a.png' }])] })
    expect(v.t.settled[0]?.outcome.usage.units).toEqual({ images: 1 })
  })

  it('together: width, height, and base64 as its format', async () => {
    await generated('together/flux', { size: '1024x768', response_format: 'b64_json', n: 2, steps: 4 })
    const same = { model: 'flux', prompt: 'a cat', n: 2, steps: 4 }
    expect(sent().json).toEqual({ ...same, width: 1024, height: 768, response_format: 'base64' })
  })

  it('xai: an aspect ratio in place of the size', async () => {
    const response = await generated('xai/grok-2-image', { size: '1000x1010' })
    expect(sent().json).toEqual({ model: 'grok-2-image', prompt: 'a cat', aspect_ratio: '1:1' })
    expect(warnings(response)).toBe('aspect_ratio_approximated')
  })

  it('an edit passes 16 images and unknown fields on, and refuses 17', async () => {
    const mask = new Blob(['mask'], { type: 'image/png' })
    expect((await edited('openai/gpt-image-1', 16, { input_fidelity: 'high', mask })).status).toBe(200)
    expect(sent().text.match(/name="image\[\]"; filename="\d+\.png"/g)).toHaveLength(16)
    expect(sent().text).toContain('name="input_fidelity"\r\n\r\nhigh\r\n')
    expect(sent().text).toContain('name="mask"')
    await v.close()
    const refused = await edited('openai/gpt-image-1', 17)
    expect([refused.status, ((await refused.json()) as { error: object }).error]).toMatchObject([400, { param: 'image' }])
    expect(v.vendor.requests).toHaveLength(0)
  })
})

describe('Google', () => {
  it('the exact request of a Gemini model, and the tokens of its calls', async () => {
    const reply = {
      candidates: [{ content: { parts: [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: 'AA' } }] } }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1290, thoughtsTokenCount: 10, totalTokenCount: 1305 },
    }
    const upstream: Step[] = [{ kind: 'raw', status: 200, body: JSON.stringify(reply) }]
    const response = await generated('google/gemini-2.5-flash-image', { n: 2, size: '1536x1024' }, { upstream })
    expect(sent().json).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    })
    expect((await response.json()) as object).toMatchObject({ data: [{ b64_json: 'AA' }, { b64_json: 'AA' }] })
    expect(v.t.settled[0]?.outcome.usage).toMatchObject({ inputTotal: 10, outputTotal: 2600, units: { images: 2 } })
  })

  it('Imagen gets only ratios that it takes, and no member of OpenAI', async () => {
    const response = await generated('google/imagen-4', { size: '1536x1024', style: 'vivid', quality: 'hd', seed: 3 })
    expect(sent().json).toEqual({
      instances: [{ prompt: 'a cat' }],
      parameters: { seed: 3, sampleCount: 1, aspectRatio: '4:3' },
    })
    expect(warnings(response)?.split(',').sort()).toEqual(['aspect_ratio_approximated', 'dropped_quality', 'dropped_style'])
  })

  it('an edit sends the images inline', async () => {
    expect((await edited('google/gemini-2.5-flash-image', 2)).status).toBe(200)
    const data = (at: number) => Buffer.from(`image ${at}`).toString('base64')
    expect(sent().json.contents).toEqual([
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: data(0) } },
          { inlineData: { mimeType: 'image/png', data: data(1) } },
          { text: 'a hat' },
        ],
      },
    ])
  })

  it('refuses a mask', async () => {
    const refused = await edited('google/gemini-2.5-flash-image', 1, { mask: new Blob(['m']) })
    expect([refused.status, ((await refused.json()) as { error: object }).error]).toMatchObject([400, { param: 'mask' }])
    expect(v.vendor.requests).toHaveLength(0)
  })

  it('no image in the answer is 400', async () => {
    const upstream: Step[] = [{ kind: 'raw', status: 200, body: '{"candidates":[{"content":{"parts":[{"text":"No."}]}}]}' }]
    expect((await generated('google/gemini-2.5-flash-image', {}, { upstream })).status).toBe(400)
  })
})

describe('Stability', () => {
  it('the exact form', async () => {
    await generated('stability/sd3.5-large', { size: '1024x768', output_format: 'webp', seed: 7 })
    expect(sent().path).toBe('/v2beta/stable-image/generate/sd3')
    expect(sent().headers).toMatchObject({ accept: 'application/json', authorization: 'Bearer sk-stability' })
    const fields = [...sent().text.matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)/g)].map(([, name, value]) => [name, value])
    expect(Object.fromEntries(fields)).toEqual({
      prompt: 'a cat',
      aspect_ratio: '5:4',
      model: 'sd3.5-large',
      output_format: 'webp',
      seed: '7',
    })
  })

  it('a filtered image is 400', async () => {
    const upstream: Step[] = [{ kind: 'raw', status: 200, body: '{"image":"AA","finish_reason":"CONTENT_FILTERED","seed":1}' }]
    expect((await generated('stability/core', {}, { upstream })).status).toBe(400)
  })
})

describe('sizes', () => {
  it.each([
    ['1024x1024', '1:1', true],
    ['1536x1024', '3:2', true],
    ['1024x1536', '2:3', true],
    ['1792x1024', '16:9', true],
    ['1024x1792', '9:16', true],
    ['1920x1080', '16:9', true],
    ['2000x1000', '16:9', false],
  ])('%s is %s', (size, ratio, exact) => expect(ratioOf(size, RATIOS.gemini)).toEqual({ ratio, exact }))

  it.each([undefined, 'auto', '1k', '1024', '00x00', '1024x1024x1'])('%s has no ratio', (size) =>
    expect(ratioOf(size, RATIOS.gemini)).toBeNull())

  it.each(Object.entries(RATIOS))('%s: a ratio that it takes for every size', (_, taken) => {
    for (const width of [256, 512, 1000, 1024, 1536, 1792, 4096])
      for (const height of [256, 512, 1000, 1024, 1536, 1792, 4096])
        expect(taken).toContain(ratioOf(`${width}x${height}`, taken)?.ratio)
  })
})
