// The servers of `hookgate bench`: an upstream with one fixed answer, and a proxy that only passes bytes on.
import { Agent, createServer, request, type Server } from 'node:http'

const ANSWER = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'bench-1',
  choices: [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'The built-in upstream says hello. '.repeat(8) } },
  ],
  usage: { prompt_tokens: 32, completion_tokens: 64, total_tokens: 96 },
})

const HEADERS = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ANSWER) }

export function mockUpstream(): Server {
  return createServer((incoming, response) => {
    incoming.resume()
    incoming.on('end', () => {
      response.writeHead(200, HEADERS)
      response.end(ANSWER)
    })
  })
}

/** Each request goes over one of its kept connections; bodies are piped. */
export function bareProxy(upstream: string): Server {
  const { hostname, port, host } = new URL(upstream)
  const agent = new Agent({ keepAlive: true })
  return createServer((incoming, response) => {
    const headers = { ...incoming.headers, host, authorization: 'Bearer sk-bench' }
    const call = request({ agent, hostname, port, method: incoming.method, path: incoming.url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    call.on('error', () => response.headersSent || response.writeHead(502).end())
    incoming.pipe(call)
  })
}
