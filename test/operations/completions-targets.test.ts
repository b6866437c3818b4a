// POST /v1/completions: members that Mistral or a chat upstream does not have are served, refused or warned about, never lost.
import { afterEach, describe, expect, it } from 'vitest'
import { isOperation, operationReply } from '../../adapters/testing/operations/vendor.ts'
import { choose } from '../../adapters/testing/script.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

async function refused(body: object) {
  const response = await v.t.post('/v1/completions', body)
  const { error } = (await response.json()) as { error: { param: string } }
  return { status: response.status, param: error.param }
}

async function chunksOf(body: object): Promise<Record<string, unknown>[]> {
  const whole = await (await v.t.post('/v1/completions', { ...body, stream: true })).text()
  return whole.split('\n\n').flatMap((block) => (block.startsWith('data: {') ? [JSON.parse(block.slice(6))] : []))
}

describe('what a target does not have', () => {
  const said = choose((request) => (isOperation(request) ? operationReply(request) : { kind: 'reply', reply: { text: 'said' } }))
  const asked = async (body: object) => {
    const response = await v.t.post('/v1/completions', body)
    const json = (await response.json()) as { choices: { index: number; text: string }[]; usage: object; error: object }
    return { status: response.status, warnings: response.headers.get('x-gateway-warnings'), ...json }
  }

  it('Mistral: one call for each prompt, echoed; the rest is refused or warned about', async () => {
    v = await vendors(['mistral'])
    const model = 'mistral/codestral-latest'
    const two = await asked({ model, prompt: ['a b', 'c d'], suffix: 'z', echo: true })
    expect(two).toMatchObject({
      choices: [
        { index: 0, text: 'a b…bz' },
        { index: 1, text: 'c d…dz' },
      ],
      usage: { prompt_tokens: 14, completion_tokens: 6, total_tokens: 20 },
    })
    expect(v.vendor.requests.map(({ json }) => json)).toMatchObject([{ prompt: 'a b' }, { prompt: 'c d' }])
    expect((await chunksOf({ model, prompt: ['a', 'b'] })).map(({ choices }) => choices)).toMatchObject([
      [{ index: 0 }],
      [{ index: 1 }],
    ])
    expect(await asked({ model, prompt: 'a', logprobs: 1, best_of: 2 })).toMatchObject({
      status: 200,
      warnings: 'dropped_logprobs,dropped_best_of',
    })
    for (const [member, param] of [
      [{ n: 2 }, 'n'],
      [{ prompt: [1, 2] }, 'prompt'],
      [{ prompt: Array.from({ length: 21 }, () => 'a') }, 'prompt'],
    ] as const)
      expect(await refused({ model, prompt: 'a', ...member })).toEqual({ status: 400, param })
    await v.t.untilSettled(6)
    expect(v.t.settled[0]?.outcome).toMatchObject({ usage: { inputTotal: 14, outputTotal: 6 }, steps: [{ provider: 'mistral' }] })
  })

  it('a chat upstream: members that it drops are warnings of the completion, whole and streamed', async () => {
    v = await vendors(['anthropic'], { upstream: [said] })
    const body = { model: 'anthropic/m', prompt: 'hi', seed: 1, frequency_penalty: 0.5, logit_bias: { 5: 1 }, own_member: 1 }
    const { status, warnings } = await asked(body)
    expect(status).toBe(200)
    const slugs = ['dropped_own_member', 'dropped_seed', 'dropped_frequency_penalty', 'dropped_logit_bias']
    expect(warnings?.split(',')).toEqual(expect.arrayContaining(slugs))
    const streamed = await v.t.post('/v1/completions', { ...body, stream: true })
    expect(streamed.headers.get('x-gateway-warnings')?.split(',')).toEqual(expect.arrayContaining(slugs))
    await streamed.text()
  })

  it.each([
    [{ prompt: '' }, 'prompt'],
    [{ prompt: undefined }, 'prompt'],
    [{ prompt: ['a', ' '] }, 'prompt'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ seed: 'x' }, 'seed'],
    [{ presence_penalty: 'x' }, 'presence_penalty'],
    [{ logit_bias: [1] }, 'logit_bias'],
    [{ user: 5 }, 'user'],
  ])('a chat upstream: %j is 400, and nothing is sent', async (members, param) => {
    v = await vendors(['anthropic'], { upstream: [said] })
    expect(await refused({ model: 'anthropic/m', prompt: 'a', ...members })).toEqual({ status: 400, param })
    expect(v.vendor.requests).toHaveLength(0)
  })

  it.each([
    [{ best_of: 1, n: 3 }, 'best_of'],
    [{ stream_options: 3 }, 'stream_options'],
    [{ stream: true, stream_options: { include_usage: 'x' } }, 'stream_options.include_usage'],
  ])('every upstream: %j is 400', async (members, param) => {
    v = await vendors(['openai'])
    expect(await refused({ model: 'openai/gpt-3.5-turbo-instruct', prompt: 'a', ...members })).toEqual({
      status: 400,
      param,
    })
    expect(v.vendor.requests).toHaveLength(0)
  })
})
