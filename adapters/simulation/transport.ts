// The transport of a simulation: a function gives the answers, they take time on the simulated clock, and no socket is opened.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { headerBag } from '../../core/http/headers.ts'
import type { Clock, Transport, WireHandler, WireRequest } from '../../core/types/ports/ports.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { RENDERERS } from '../testing/scripted-upstream.ts'
import { MARKER } from './sandbox.ts'
import type { UpstreamAnswer } from './script.ts'

/** One simulated upstream call. */
export interface SimulatedCall {
  /** Monotonic ms of the call; `answeredAt`: when its answer begins. */
  readonly startedAt: number
  readonly answeredAt: number
  /** Key in the configuration. */
  readonly connection: string
  readonly answer: UpstreamAnswer
}

export interface SimulatedTransport extends Transport {
  readonly calls: readonly SimulatedCall[]
  /** Calls without an answer yet. */
  readonly waiting: number
  /** Time of the next answer, monotonic ms; null when no call is pending. */
  readonly nextAnswerAt: number | null
}

/** @param answerOf is called when the call begins. */
export function simulatedTransport(
  clock: Clock,
  answerOf: (connection: string, now: number) => UpstreamAnswer,
): SimulatedTransport {
  const calls: SimulatedCall[] = []
  const waiting = new Set<SimulatedCall>()
  return {
    calls,
    get waiting() {
      return waiting.size
    },
    get nextAnswerAt() {
      return waiting.size === 0 ? null : Math.min(...[...waiting].map(({ answeredAt }) => answeredAt))
    },
    send(wire, handler) {
      const startedAt = clock.monotonic()
      const connection = headerBag(wire.headers).get(MARKER) ?? ''
      const answer = answerOf(connection, startedAt)
      const call = { startedAt, answeredAt: startedAt + answer.latencyMs, connection, answer }
      calls.push(call)
      waiting.add(call)
      let aborted = false
      const timer = clock.timer(answer.latencyMs, () => {
        waiting.delete(call)
        void deliver(wire, answer, handler, () => aborted)
      })
      return {
        abort() {
          aborted = true
          waiting.delete(call)
          timer.cancel()
        },
      }
    },
    async close() {},
  }
}

async function deliver(wire: WireRequest, answer: UpstreamAnswer, handler: WireHandler, aborted: () => boolean): Promise<void> {
  if (answer.status === 0) return handler.error(GatewayError.network('connect', 'The upstream refused the connection.'))
  // Bedrock's binary stream is not simulated: its whole answer is replayed.
  const streamed = wire.stream && answer.status < 300 && !CONVERSE.test(wire.url)
  const headers = ['content-type', streamed ? 'text/event-stream' : 'application/json']
  if (answer.retryAfterSecs !== null) headers.push('retry-after', String(answer.retryAfterSecs))
  handler.head(answer.status, headerBag(headers))
  for (const text of bodyOf(wire, answer, streamed)) {
    if (aborted()) return
    await handler.data(Buffer.from(text))
  }
  if (!aborted()) handler.end()
}

function bodyOf({ method, url }: WireRequest, { status, text }: UpstreamAnswer, streamed: boolean): readonly string[] {
  if (CONVERSE.test(url)) return [converseOf(status, text)]
  const renderer = RENDERERS[dialectOf(url)]
  if (status >= 300) return [JSON.stringify(renderer.error(status, text ?? `Simulated ${status}.`))]
  // A list of models, for account probes.
  if (method === 'GET') return ['{"object":"list","data":[]}']
  const reply = { text: text ?? 'A simulated answer.' }
  if (COMPLETIONS.test(new URL(url).pathname)) return completionOf(reply.text, streamed)
  return streamed ? renderer.frames(reply) : [JSON.stringify(renderer.json(reply))]
}

const CONVERSE = /\/converse(?:-stream)?$/

function converseOf(status: number, text: string | null): string {
  if (status >= 300) return JSON.stringify({ message: text ?? `Simulated ${status}.` })
  const message = { role: 'assistant', content: [{ text: text ?? 'A simulated answer.' }] }
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
  return JSON.stringify({ output: { message }, stopReason: 'end_turn', usage })
}

/** The legacy route; Mistral's answers in the shape of chat. */
const COMPLETIONS = /(?<!\/chat|\/fim)\/completions$/

function completionOf(text: string, streamed: boolean): readonly string[] {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const choices = [{ index: 0, text, finish_reason: 'stop', logprobs: null }]
  const body = JSON.stringify({ id: 'cmpl-simulated', object: 'text_completion', created: 0, model: 'simulated', choices, usage })
  return streamed ? [`data: ${body}\n\n`, 'data: [DONE]\n\n'] : [body]
}

function dialectOf(url: string): Dialect {
  const { pathname } = new URL(url)
  if (pathname.endsWith('/messages') || /\/publishers\/anthropic\/.*:/.test(pathname)) return 'messages'
  if (pathname.endsWith('/responses')) return 'responses'
  return /:(?:streamG|g)enerateContent$/.test(pathname) ? 'generate_content' : 'chat'
}
