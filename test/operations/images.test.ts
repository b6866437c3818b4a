// Images: the official SDKs, and what each vendor is sent.
import { createOpenAI } from '@ai-sdk/openai'
import { generateImage } from 'ai'
import OpenAI, { toFile } from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { SCRIPTED_IMAGE } from '../../adapters/testing/operations/images.ts'
import { sql } from '../../core/db/sql.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

async function openai(): Promise<OpenAI> {
  const { port } = await v.t.listen()
  return new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 })
}
const file = (text: string, name: string) => toFile(Buffer.from(text), name, { type: 'image/png' })
const sent = (at = 0) => v.vendor.requests[at]
const unitsOf = (at = 0) => v.t.settled[at]?.outcome.usage.units

describe('the SDK of OpenAI', () => {
  it('generates', async () => {
    v = await vendors(['openai'])
    const client = await openai()
    const made = await client.images.generate({ model: 'openai/dall-e-2', prompt: 'a cat', n: 2, size: '512x512' })
    expect(made.data).toEqual([{ b64_json: SCRIPTED_IMAGE }, { b64_json: SCRIPTED_IMAGE }])
    expect(sent()?.json).toEqual({ model: 'dall-e-2', prompt: 'a cat', n: 2, size: '512x512' })
    expect(unitsOf()).toEqual({ images: 2, size: '512x512' })
    const linked = await client.images.generate({ model: 'openai/dall-e-3', prompt: 'a cat', response_format: 'url' })
    expect(linked.data?.[0]?.url).toBe('https://example.com/a.png')
  })

  it('streams partial images, whose usage is booked', async () => {
    v = await vendors(['openai'])
    const stream = await (await openai()).images.generate({
      model: 'openai/gpt-image-1',
      prompt: 'a cat',
      stream: true,
      partial_images: 1,
    })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(types).toEqual(['image_generation.partial_image', 'image_generation.completed'])
    await v.t.untilSettled(1)
    expect(v.t.settled[0]?.outcome).toMatchObject({
      status: 200,
      usage: { inputTotal: 10, outputTotal: 20, units: { images: 1 } },
    })
    expect(v.t.settled[0]?.ctx.stream).toBe(true)
  })

  it('edits one image and several, with a mask', async () => {
    v = await vendors(['openai'])
    const client = await openai()
    await client.images.edit({ model: 'openai/gpt-image-1', prompt: 'a hat', image: await file('one', 'one.png') })
    expect(sent()?.path).toBe('/v1/images/edits')
    expect(sent()?.text).toContain('name="image"; filename="one.png"\r\ncontent-type: image/png\r\n\r\none\r\n')
    expect(sent()?.text).toContain('name="model"\r\n\r\ngpt-image-1\r\n')
    await client.images.edit({
      model: 'openai/gpt-image-1',
      prompt: 'a hat',
      image: [await file('one', 'one.png'), await file('two', 'two.png')],
      mask: await file('mask', 'mask.png'),
      n: 2,
    })
    expect(sent(1)?.text.match(/name="image\[\]"/g)).toHaveLength(2)
    expect(sent(1)?.text).toContain('name="mask"; filename="mask.png"')
    expect(unitsOf(1)).toEqual({ images: 2 })
  })

  it('makes variations', async () => {
    v = await vendors(['openai'])
    const made = await (await openai()).images.createVariation({
      model: 'openai/dall-e-2',
      image: await file('one', 'one.png'),
      n: 3,
    })
    expect(made.data).toHaveLength(3)
    expect(sent()?.path).toBe('/v1/images/variations')
  })
})

it('the AI SDK generates', async () => {
  v = await vendors(['openai'])
  const { port } = await v.t.listen()
  const model = createOpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` }).image('openai/gpt-image-1')
  const { image } = await generateImage({ model, prompt: 'a cat' })
  expect(image.base64).toBe(SCRIPTED_IMAGE)
})

describe('the vendors', () => {
  const ask = async (body: object) => {
    const response = await v.t.post('/v1/images/generations', body)
    return { status: response.status, json: (await response.json()) as Record<string, unknown>, headers: response.headers }
  }

  it.each([
    ['google', 'imagen-4', '/v1beta/models/imagen-4:predict', { parameters: { sampleCount: 2, aspectRatio: '16:9' } }, 1],
    [
      'google',
      'gemini-2.5-flash-image',
      '/v1beta/models/gemini-2.5-flash-image:generateContent',
      { generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9' } } },
      2,
    ],
    ['xai', 'grok-2-image', '/v1/images/generations', { model: 'grok-2-image', n: 2, aspect_ratio: '16:9' }, 1],
    ['together', 'flux', '/v1/images/generations', { model: 'flux', n: 2, width: 1792, height: 1024 }, 1],
  ])('%s/%s', async (provider, model, path, body, calls) => {
    v = await vendors([provider])
    const { status, json } = await ask({ model: `${provider}/${model}`, prompt: 'a cat', n: 2, size: '1792x1024' })
    expect(status, JSON.stringify(json)).toBe(200)
    expect((json.data as object[]).map((image) => Object.keys(image))).toEqual([['b64_json'], ['b64_json']])
    expect(sent()).toMatchObject({ path, json: body })
    expect(v.vendor.requests).toHaveLength(calls)
    expect(unitsOf()).toEqual({ images: 2, size: '1792x1024' })
  })

  it('siliconflow: its own names, and links', async () => {
    v = await vendors(['siliconflow'])
    const { json } = await ask({ model: 'siliconflow/k', prompt: 'a cat', n: 2, size: '512x512' })
    expect(json.data).toEqual([{ url: 'https://example.com/a.png' }, { url: 'https://example.com/a.png' }])
    expect(sent()?.json).toEqual({ model: 'k', prompt: 'a cat', batch_size: 2, image_size: '512x512' })
  })

  it('stability: a form', async () => {
    v = await vendors(['stability'])
    const { status } = await ask({ model: 'stability/core', prompt: 'a cat', size: '1024x1536' })
    expect(status).toBe(200)
    expect(sent()?.path).toContain('/v2beta/stable-image/generate/core')
    expect(sent()?.text).toContain('name="aspect_ratio"\r\n\r\n2:3\r\n')
  })

  it('black-forest-labs: polls until the image is ready, and sends the key to its own origin only', async () => {
    let polls = 0
    v = await vendors(['black-forest-labs'], {
      upstream: [
        {
          kind: 'choose',
          choose: ({ path, headers }) => ({
            kind: 'raw',
            status: 200,
            body: path.includes('get_result')
              ? JSON.stringify(
                  ++polls < 3 ? { status: 'Pending' } : { status: 'Ready', result: { sample: 'https://x.example/a.png' } },
                )
              : JSON.stringify({ id: 'j', polling_url: `http://${headers.host}/v1/get_result?id=j` }),
          }),
        },
      ],
    })
    const { status, json } = await ask({ model: 'bfl/flux-pro-1.1', prompt: 'a cat', size: '1024x768' })
    expect(status, JSON.stringify(json)).toBe(200)
    expect(json.data).toEqual([{ url: 'https://x.example/a.png' }])
    expect(sent()).toMatchObject({
      path: '/v1/flux-pro-1.1',
      json: { width: 1024, height: 768 },
      headers: { 'x-key': 'sk-black-forest-labs' },
    })
    expect(v.vendor.requests).toHaveLength(4)
  })

  it.each([
    ['Content Moderated', 400],
    ['Error', 502],
  ])('black-forest-labs: %s is %i', async (status, expected) => {
    v = await vendors(['black-forest-labs'], {
      upstream: [
        {
          kind: 'choose',
          choose: ({ path, headers }) => ({
            kind: 'raw',
            status: 200,
            body: JSON.stringify(
              path.includes('get_result') ? { status } : { polling_url: `http://${headers.host}/v1/get_result` },
            ),
          }),
        },
      ],
    })
    expect((await ask({ model: 'bfl/flux-pro', prompt: 'a cat' })).status).toBe(expected)
  })

  it('a polling address inside the network is not called', async () => {
    v = await vendors(['black-forest-labs'], {
      upstream: [{ kind: 'raw', status: 200, body: JSON.stringify({ polling_url: 'http://169.254.169.254/' }) }],
    })
    expect((await ask({ model: 'bfl/flux-pro', prompt: 'a cat' })).status).toBe(502)
    expect(v.vendor.requests).toHaveLength(1)
  })
})

describe('names and refusals', () => {
  const status = async (path: string, body: object) => {
    const response = await v.t.post(path, body)
    return { status: response.status, json: (await response.json()) as { error?: { param?: string; message: string } } }
  }

  it('a bare provider means its default model', async () => {
    v = await vendors([], {
      config: { connections: {} },
    })
    await v.close()
    v = await vendors(['openai'])
    const set = await v.t.post('/api/providers', {
      provider: 'openai',
      base_url: v.vendor.baseUrl('chat'),
      api_key: 'k',
      default_model: 'dall-e-2',
    })
    expect(set.status, await set.clone().text()).toBeLessThan(300)
    expect((await status('/v1/images/generations', { model: 'openai', prompt: 'x' })).status).toBe(200)
    expect(sent()?.json.model).toBe('dall-e-2')
  })

  it('a virtual model for images is served, and one for text is 400', async () => {
    v = await vendors(['openai'])
    for (const modality of ['image', 'text'])
      await v.t.post('/api/virtual-models', { name: modality, strategy: 'failover', targets: ['openai/dall-e-2'], modality })
    expect((await status('/v1/images/generations', { model: 'image', prompt: 'x' })).status).toBe(200)
    expect((await status('/v1/images/generations', { model: 'text', prompt: 'x' })).json.error?.param).toBe('model')
  })

  it.each([
    [{ prompt: 'x' }, 'model'],
    [{ model: 'openai/d' }, 'prompt'],
    [{ model: 'openai/d', prompt: 'x', n: 11 }, 'n'],
    [{ model: 'openai/d', prompt: 'x', n: 0 }, 'n'],
    [{ model: 'openai/d', prompt: 'x', response_format: 'png' }, 'response_format'],
    [{ model: 'openai/d', prompt: 'x', stream: 'yes' }, 'stream'],
  ])('%j', async (body, param) => {
    v = await vendors(['openai'])
    expect((await status('/v1/images/generations', body)).json.error).toMatchObject({ param })
    expect(v.vendor.requests).toHaveLength(0)
  })

  it('forms: no image, JSON in place of a form, and a broken form', async () => {
    v = await vendors(['openai'])
    const form = new FormData()
    form.set('model', 'openai/d')
    form.set('prompt', 'x')
    const response = await v.t.fetch('/v1/images/edits', { method: 'POST', body: form })
    expect(((await response.json()) as { error: object }).error).toMatchObject({ param: 'image' })
    expect((await status('/v1/images/edits', { model: 'openai/d' })).status).toBe(400)
    const broken = await v.t.fetch('/v1/images/edits', {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x\r\ncontent-disposition: form-data; name="image"; filename="a"\r\n\r\nhalf',
    })
    expect(broken.status).toBe(400)
    expect(v.vendor.requests).toHaveLength(0)
  })
})

it('a budget for 20 images serves 20 of 200 at once', async () => {
  v = await vendors(['openai'], { env: { PRICING_SYNC_ENABLED: 'false' } })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ data: [{ model: 'openai/dall-e-3', per_image_usd: 0.04 }] })
  expect((await v.t.fetch('/api/pricing/overrides', { method: 'PUT', headers, body })).status).toBe(200)
  await v.t.post('/api/budgets', { scope: 'org', entity_id: null, entity_label: null, window: 'daily', hard_limit_usd: 0.8 })
  const answers = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const response = await v.t.post('/v1/images/generations', { model: 'openai/dall-e-3', prompt: 'a cat' })
      await response.arrayBuffer()
      return response.status
    }),
  )
  expect(answers.filter((status) => status === 200)).toHaveLength(20)
  expect(answers.filter((status) => status === 402)).toHaveLength(180)
  await v.t.untilCommitted(200)
  const [row] = (await v.t.gateway.db?.all<{ cost: number; units: number }>(
    sql`SELECT SUM(cost_nano) AS cost, SUM(media_units) AS units FROM ledger_usage`,
  )) as [{ cost: number; units: number }]
  expect(row).toEqual({ cost: 800_000_000, units: 20 })
})
