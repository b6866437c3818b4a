// Bedrock over real HTTP: signatures that the upstream checks, and Converse in any caller's dialect.
import { createHash, createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../../adapters/testing/test-gateway.ts'
import { decodeUtf8, encodeUtf8 } from '../../../../core/text/bytes.ts'
import { ask, gateway, json, type Seen, server } from './support.ts'

interface Choice {
  message: { tool_calls: { function: object }[] }
}

describe('Bedrock', () => {
  const KEY = { access_key_id: 'AKIATEST', secret_access_key: 'secret-canary-of-aws', region: 'eu-central-1' }
  const aws = new EventStreamCodec(decodeUtf8, encodeUtf8)
  const event = (type: string, payload: unknown, kind = 'event') =>
    aws.encode({
      headers: {
        [kind === 'event' ? ':event-type' : ':exception-type']: { type: 'string', value: type },
        ':message-type': { type: 'string', value: kind },
      },
      body: encodeUtf8(JSON.stringify(payload)),
    })
  const USAGE = { inputTokens: 10, outputTokens: 5, totalTokens: 18, cacheReadInputTokens: 3, cacheWriteInputTokens: 0 }

  /** The signature by the letter of the documentation, without the library. */
  function signatureOf({ method, path, headers, body }: Seen, secret: string): string {
    const [scope = '', names = ''] = [/Credential=[^/]+\/([^,]+)/, /SignedHeaders=([^,]+)/].map(
      (pattern) => pattern.exec(String(headers.authorization))?.[1] ?? '',
    )
    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
    const uri = path
      .split('/')
      .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`))
      .join('/')
    const list = names.split(';')
    const canonical = [
      method,
      uri,
      '',
      ...list.map((name) => `${name}:${String(headers[name]).trim()}`),
      '',
      names,
      hash(body),
    ].join('\n')
    const [date = '', region = '', service = ''] = scope.split('/')
    const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), 'aws4_request')
    return hmac(key, ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n')).toString('hex')
  }

  const bedrock = (answer: (seen: Seen, response: ServerResponse) => void) =>
    server((seen, response) => {
      const ours = signatureOf(seen, KEY.secret_access_key)
      if (seen.headers.authorization?.endsWith(`Signature=${ours}`)) return answer(seen, response)
      response.setHeader('x-amzn-errortype', 'InvalidSignatureException:http://internal.amazon.com/')
      json(response, { message: 'The request signature we calculated does not match.' }, 403)
    })

  it('checks the signature of each call, and Converse answers in any dialect', async () => {
    const upstream = await bedrock((_seen, response) =>
      json(response, {
        output: {
          message: {
            role: 'assistant',
            content: [{ text: 'Hello' }, { toolUse: { toolUseId: 't1', name: 'look_up', input: { n: 12345678901234 } } }],
          },
        },
        stopReason: 'tool_use',
        usage: USAGE,
      }),
    )
    const { t } = await gateway({ aws: { provider: 'bedrock', baseUrl: upstream.url, apiKey: JSON.stringify(KEY) } })
    const tools = [{ type: 'function', function: { name: 'look_up', description: 'Looks up.', parameters: { type: 'object' } } }]
    const answer = await ask(t, 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', { tools, max_tokens: 100, stop: ['END'] })
    const body = (await answer.json()) as { choices: Choice[]; usage: object }
    expect(answer.status, JSON.stringify(body)).toBe(200)
    expect(body.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Hello' } })
    expect(body.choices[0]?.message.tool_calls[0]?.function).toEqual({ name: 'look_up', arguments: '{"n":12345678901234}' })
    expect(body.usage).toMatchObject({ prompt_tokens: 13, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } })
    expect(upstream.seen[0]?.path).toBe('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse')
    expect(JSON.parse(upstream.seen[0]?.body ?? '')).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 100, stopSequences: ['END'] },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'look_up',
              description: 'Looks up.',
              inputSchema: { json: { properties: {}, type: 'object' } },
            },
          },
        ],
      },
    })
  })

  it('streams events that arrive byte by byte', async () => {
    const upstream = await bedrock((_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
      const bytes = Buffer.concat([
        event('messageStart', { role: 'assistant' }),
        event('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Hm.' } } }),
        event('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig' } } }),
        event('contentBlockStop', { contentBlockIndex: 0 }),
        event('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Grüß ' } }),
        event('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'Gott' } }),
        event('contentBlockStop', { contentBlockIndex: 1 }),
        event('contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'f' } } }),
        event('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '{"a":' } } }),
        event('contentBlockDelta', { contentBlockIndex: 2, delta: { toolUse: { input: '1}' } } }),
        event('contentBlockStop', { contentBlockIndex: 2 }),
        event('messageStop', { stopReason: 'tool_use' }),
        event('metadata', { usage: USAGE, metrics: { latencyMs: 1 } }),
      ])
      for (const byte of bytes) response.write(Uint8Array.of(byte))
      response.end()
    })
    const { t } = await gateway({ aws: { provider: 'bedrock', baseUrl: upstream.url, apiKey: JSON.stringify(KEY) } })
    const answer = await t.post('/v1/messages', {
      model: 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
      max_tokens: 5000,
      stream: true,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      messages: [{ role: 'user', content: 'Hi' }],
    })
    const text = await answer.text()
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string))
    const deltas = events.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta)
    expect(
      deltas
        .map((delta) => delta.thinking ?? delta.signature ?? delta.text ?? delta.partial_json)
        .filter(Boolean)
        .join('|'),
    ).toBe('Hm.|sig|Grüß |Gott|{"a":|1}')
    expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { output_tokens: 5 },
    })
    expect(upstream.seen[0]?.path).toContain('/converse-stream')
    expect(JSON.parse(upstream.seen[0]?.body ?? '').additionalModelRequestFields.thinking.budget_tokens).toBe(2000)
  })

  it('reports an exception inside the stream, and a stream that is cut', async () => {
    let frames: Uint8Array[] = [event('throttlingException', { message: 'Too many.' }, 'exception')]
    const upstream = await bedrock((_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
      response.end(Buffer.concat(frames))
    })
    const { t } = await gateway({ aws: { provider: 'bedrock', baseUrl: upstream.url, apiKey: JSON.stringify(KEY) } })
    const before = await ask(t, 'bedrock/amazon.nova-lite-v1:0', { stream: true })
    expect([before.status, await before.text()]).toEqual([429, expect.stringContaining('Too many.')])
    frames = [event('messageStart', {}), event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Half' } })]
    const { t: other } = await gateway({ aws: { provider: 'bedrock', baseUrl: upstream.url, apiKey: JSON.stringify(KEY) } })
    const cut = await (await ask(other, 'bedrock/amazon.nova-lite-v1:0', { stream: true })).text()
    expect(cut).toContain('Half')
    expect(cut).toContain('before its last event')
  })

  const ADVICE =
    ' Temporary AWS credentials are not renewed. Give the connection new ones, the key of a user, or a Bedrock API key.'

  it.each([
    [403, 'ExpiredTokenException', 'The security token included in the request is expired', ADVICE],
    [400, 'ExpiredToken', 'The provided token has expired.', ADVICE],
    [403, 'UnrecognizedClientException', 'The security token included in the request is invalid.', ''],
  ])('fails over when credentials are refused (%s %s), and shows the operator why', async (status, name, message, advice) => {
    const upstream = await server(({ path }, response) => {
      if (path.startsWith('/openai'))
        return json(response, {
          choices: [{ index: 0, message: { role: 'assistant', content: 'Spare' }, finish_reason: 'stop' }],
        })
      response.setHeader('x-amzn-errortype', `${name}:http://internal.amazon.com/`)
      return json(response, { message }, status)
    })
    const temporary = JSON.stringify({ ...KEY, session_token: 'session-canary-of-aws' })
    const { t } = await gateway({
      aws: { provider: 'bedrock', baseUrl: upstream.url, apiKey: temporary, priority: 0 },
      spare: { provider: 'bedrock', baseUrl: `${upstream.url}/openai/v1`, apiKey: 'key', priority: 1 },
    })
    expect(await (await ask(t, 'bedrock/m')).text()).toContain('Spare')
    const { data } = (await (await t.fetch('/api/providers')).json()) as { data: { label: string; state: object }[] }
    const states = JSON.stringify(data.map(({ state }) => state))
    expect(states).toContain('auth_failed')
    expect(states).toContain(`${message.replace(/\.$/, '')}.${advice}"`)
    expect(states).not.toContain('canary')
    expect((await ask(t, 'bedrock/m')).status).toBe(200)
    // The refused ones are not tried again.
    expect(upstream.seen.filter(({ path }) => path.includes('/converse'))).toHaveLength(1)
  })

  it('takes a Bedrock API key, and the OpenAI-compatible address', async () => {
    const upstream = await server((_seen, response) =>
      json(response, {
        id: 'x',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      }),
    )
    const { t } = await gateway({ aws: { provider: 'bedrock', baseUrl: `${upstream.url}/openai/v1`, apiKey: 'bedrock-api-key' } })
    expect((await ask(t, 'bedrock/openai.gpt-oss-20b-1:0')).status).toBe(200)
    expect([upstream.seen[0]?.path, upstream.seen[0]?.headers.authorization]).toEqual([
      '/openai/v1/chat/completions',
      'Bearer bedrock-api-key',
    ])
  })

  it('fails over when the key is no credential, and says nothing of it', async () => {
    const upstream = await server((_seen, response) =>
      json(response, { choices: [{ index: 0, message: { role: 'assistant', content: 'Spare' }, finish_reason: 'stop' }] }),
    )
    const broken = JSON.stringify({ access_key_id: 'AKIA', secret_access: 'secret-canary-of-aws' })
    const { t } = await gateway({
      aws: { provider: 'bedrock', baseUrl: upstream.url, apiKey: broken, priority: 0 },
      spare: { provider: 'bedrock', baseUrl: `${upstream.url}/openai/v1`, apiKey: 'key', priority: 1 },
    })
    const answer = await ask(t, 'bedrock/m')
    expect(await answer.text()).toContain('Spare')
    await t.untilSettled()
    const { outcome, ctx } = t.settled[0] as TestGateway['settled'][number]
    expect(ctx.attempts).toHaveLength(2)
    expect(outcome.steps).toHaveLength(1)
    expect(JSON.stringify(ctx.attempts.map(({ error }) => error?.message ?? ''))).not.toContain('canary')
  })
})
