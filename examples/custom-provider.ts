// Two ways to use a backend that is not in the registry:
// - as code: a provider `acme` with its own credential header, and its deviations from the chat dialect as quirks;
// - as configuration: a connection of provider `custom` that names the wire format of its server.
// The backend is a small local server, so that the example runs everywhere.
//
//   npm run build && npx jiti examples/custom-provider.ts
//   curl -s http://127.0.0.1:8788/v1/chat/completions -H 'content-type: application/json' \
//     -d '{"model":"acme/acme-large","messages":[{"role":"user","content":"Hello"}],"max_completion_tokens":50}'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway, defineProvider, serve } from 'hookgate'

const acme = (baseUrl: string) =>
  defineProvider({
    id: 'acme',
    aliases: ['acme-ai'],
    baseUrl,
    dialects: { chat: '' },
    // Acme supports only the old name of the token limit, and answers 400 to stream_options.
    quirks: { maxTokensField: 'max_tokens', rejectsStreamOptions: true },
    needsKey: true,
    caps: (model) => ({ family: 'acme', context: 32_000, maxOutput: 4096, visionIn: model.endsWith('-vision') }),
    dialectFor: () => 'chat',
    authorize(wire, _dialect, secret) {
      wire.headers.push('x-acme-key', secret ?? '')
    },
  })

export async function start(port = Number(process.env.PORT ?? 8788)) {
  const backend = await startBackend()
  const gateway = await createGateway({
    providers: [acme(`${backend.url}/v1`)],
    connections: {
      acme: { provider: 'acme', apiKey: 'acme-secret' },
      // The record key is the provider id: models are `inhouse/…`.
      inhouse: { provider: 'custom', baseUrl: `${backend.url}/v1`, wireFormat: 'messages', apiKey: 'inhouse-secret' },
    },
  })
  const server = await serve(gateway, { host: '127.0.0.1', port })
  return {
    url: server.url,
    async close() {
      await server.close()
      backend.close()
    },
  }
}

async function startBackend() {
  const server = createServer((req, res) => void answer(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** A chat endpoint with Acme's deviations, and a messages endpoint. */
async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  let text = ''
  for await (const chunk of req) text += chunk
  const body = JSON.parse(text)
  if (req.url === '/v1/messages') {
    const content = [{ type: 'text', text: `In-house, asked in messages: ${body.model}` }]
    const usage = { input_tokens: 3, output_tokens: 5 }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: body.model, stop_sequence: null, usage }
    if (body.stream) return events(res, messagesFrames(message, content[0]!.text))
    return json(res, 200, { ...message, content, stop_reason: 'end_turn' })
  }
  if (req.headers['x-acme-key'] !== 'acme-secret') return json(res, 401, { error: { message: 'x-acme-key is wrong' } })
  if ('max_completion_tokens' in body || 'stream_options' in body) return json(res, 400, { error: { message: 'unknown field' } })
  const base = { id: 'acme-1', created: Math.floor(Date.now() / 1000), model: body.model }
  const content = `Acme, at most ${body.max_tokens ?? 'any number of'} tokens`
  const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
  if (!body.stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
    return json(res, 200, { ...base, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
  })
  const chunks = [...content.split(/(?= )/).map((word) => chunk({ content: word }, null)), chunk({}, 'stop')]
  events(res, [...chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`), 'data: [DONE]\n\n'])
}

function messagesFrames(message: object, text: string): string[] {
  const list = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

function json(res: ServerResponse, status: number, value: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function events(res: ServerResponse, frames: readonly string[]): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames.join(''))
}

if (import.meta.filename === process.argv[1]) console.log(`listening on ${(await start()).url}`)
