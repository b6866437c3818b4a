// A plugin with all usual parts: options, a refusal, a lease, a stream transform with the same change for whole answers, a metric
// and an event. It refuses words, limits concurrent requests, and masks a code name in every answer.
//
//   npm run build && npx jiti examples/custom-plugin.ts
//   curl -s http://127.0.0.1:8788/v1/chat/completions -H 'content-type: application/json' \
//     -d '{"model":"echo/echo-1","messages":[{"role":"user","content":"What is bluebird?"}]}'
import { createGateway, definePlugin, GatewayError, preset, serve } from 'hookgate'
import type { CanonicalRequest, Delta, Frozen, Part, StreamTransform } from 'hookgate/core'
import { z } from 'zod'

declare module 'hookgate/core' {
  interface EventMap {
    'house-rules.blocked': { word: string }
  }
}

export const houseRules = definePlugin({
  name: 'house-rules',
  config: z.object({
    /** Requests with one of these words are refused. */
    refuse: z.array(z.string()).default([]),
    /** Removed from every answer. */
    codeName: z.string(),
    maxParallel: z.int().min(1).default(100),
  }),
  setup(gateway, { refuse, codeName, maxParallel }) {
    const masked = gateway.metrics.counter('house_rules_masked_total', 'Code names masked in answers.', ['stream'])
    const running = gateway.metrics.gauge('house_rules_running', 'Requests that hold a place.')
    let places = maxParallel
    let refused = 0

    // A GatewayError is a decision: the caller gets it in the form of its own dialect.
    gateway.hook(
      'request',
      (ctx) => {
        const word = refuse.find((candidate) => saidByUser(ctx.request).includes(candidate))
        if (word !== undefined) {
          refused++
          gateway.events.emit('house-rules.blocked', { word })
          throw GatewayError.blocked(`house-rules: ${word}`)
        }
        if (places === 0) throw GatewayError.rateLimited('Too many requests at once.', 1000)
        places--
        running.inc()
        // A lease is settled exactly once, however the request ends: answered, refused, failed or aborted.
        ctx.hold({
          settle() {
            places++
            running.dec()
          },
        })
      },
      { operation: 'chat' },
    )

    // Figures on the dashboard's overview: a route of the plugin, and a panel that names it.
    gateway.api({
      method: 'GET',
      path: '/api/house-rules',
      summary: 'Refused requests, and free places.',
      response: z.object({ refused: z.int(), free: z.int() }),
      handler: () => ({ refused, free: places }),
    })
    gateway.panel({
      id: 'summary',
      title: 'House rules',
      slot: 'overview',
      view: 'stat',
      source: '/api/house-rules',
      fields: [
        { field: 'refused', title: 'Refused', format: 'count' },
        { field: 'free', title: 'Free places', format: 'count' },
      ],
    })

    const mask = (stream: boolean) => (text: string) => {
      const parts = text.split(codeName)
      if (parts.length > 1) masked.inc({ stream: String(stream) }, parts.length - 1)
      return parts.join('█'.repeat(codeName.length))
    }
    gateway.hook('stream', () => wordByWord(mask(true)))
    gateway.hook(
      'response',
      (_ctx, response) => ({
        ...response,
        ext: {},
        choices: response.choices.map(({ parts, ext: _ext, logprobs: _logprobs, ...choice }) => ({
          ...choice,
          parts: parts.map((part) => maskedPart(part, mask(false))),
        })),
      }),
      { operation: 'chat' },
    )
  },
})

function saidByUser(request: Frozen<CanonicalRequest>): string {
  return request.messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.map((part) => (part.t === 'text' ? part.text : '')))
    .join('\n')
}

/**
 * Returns a part with masked texts. Members that may quote them are removed: the vendor's `ext`, citations, and the signature of a
 * changed text.
 */
function maskedPart(part: Frozen<Part>, clean: (text: string) => string): Part {
  const { ext: _ext, ...copy } = structuredClone(part) as Part
  const before = JSON.stringify(copy)
  if (copy.t === 'text' || copy.t === 'refusal' || copy.t === 'reasoning') copy.text = clean(copy.text)
  if (copy.t === 'reasoning') copy.summary = copy.summary?.map(clean)
  if (copy.t === 'tool_call') copy.args = clean(copy.args)
  if (copy.t === 'text') delete copy.annotations
  if ('signature' in copy && JSON.stringify(copy) !== before) delete copy.signature
  return copy
}

const TEXTS = ['text', 'refusal', 'reasoning', 'summary', 'args'] as const

/** A word may arrive in pieces, so the text after the last space waits for the next piece. */
function wordByWord(clean: (text: string) => string): StreamTransform {
  const waiting = new Map<string, Map<(typeof TEXTS)[number], string>>()
  return {
    event(event, emit) {
      if (event.e === 'delta') {
        const at = `${event.choice} ${event.part}`
        const kind = TEXTS.find((name) => name in event.d)
        // Log probabilities and citations repeat the text, so they are dropped. A signature waits for the end, when it is known whether
        // its text was changed.
        if (kind === undefined) return 'audio' in event.d ? emit(event) : undefined
        const held = waiting.get(at) ?? new Map()
        waiting.set(at, held)
        const text: string = (held.get(kind) ?? '') + (event.d as Record<string, string>)[kind]
        const end = text.lastIndexOf(' ') + 1
        held.set(kind, text.slice(end))
        if (end > 0) emit({ ...event, d: { [kind]: clean(text.slice(0, end)) } as Delta })
      } else if (event.e === 'part_stop') {
        const { choice, part, full } = event
        for (const [kind, rest] of waiting.get(`${choice} ${part}`) ?? [])
          if (rest !== '') emit({ e: 'delta', choice, part, d: { [kind]: clean(rest) } as Delta })
        const whole = maskedPart(full, clean)
        if ('signature' in whole && whole.signature && whole.t !== 'tool_call')
          emit({ e: 'delta', choice, part, d: { signature: whole.signature } })
        emit({ ...event, full: whole })
      } else if (event.e === 'finish' || event.e === 'end' || event.e === 'start') {
        const { ext: _ext, ...rest } = event
        emit(rest)
      } else emit(event)
    },
  }
}

export async function start(port = Number(process.env.PORT ?? 8788)) {
  const gateway = await createGateway({
    connections: { echo: { provider: 'echo' } },
    plugins: [...preset(), houseRules({ refuse: ['password'], codeName: 'bluebird' })],
  })
  return serve(gateway, { host: '127.0.0.1', port })
}

if (import.meta.filename === process.argv[1]) console.log(`listening on ${(await start()).url}`)
