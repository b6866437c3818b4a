// A plugin with everything a plugin usually has: options, a veto, a lease, a stream transform with its non-stream twin,
// a metric and an event. It refuses words, limits parallel requests, and masks a code name in every answer.
//
//   npm run build && npx jiti examples/custom-plugin.ts
//   curl -s http://127.0.0.1:8788/v1/chat/completions -H 'content-type: application/json' \
//     -d '{"model":"echo/echo-1","messages":[{"role":"user","content":"What is bluebird?"}]}'
import { createGateway, definePlugin, GatewayError, preset, serve } from 'hookgate'
import type { CanonicalRequest, CanonicalResponse, Frozen, StreamTransform } from 'hookgate/core'
import { z } from 'zod'

declare module 'hookgate/core' {
  interface EventMap {
    'house-rules.blocked': { word: string }
  }
}

export const houseRules = definePlugin({
  name: 'house-rules',
  config: z.object({
    /** Requests that say one of these are refused. */
    refuse: z.array(z.string()).default([]),
    /** Never leaves in an answer. */
    codeName: z.string(),
    maxParallel: z.int().min(1).default(100),
  }),
  setup(gateway, { refuse, codeName, maxParallel }) {
    const masked = gateway.metrics.counter('house_rules_masked_total', 'Code names masked in answers.', ['stream'])
    const running = gateway.metrics.gauge('house_rules_running', 'Requests that hold a place.')
    let places = maxParallel

    // A GatewayError is a decision: the caller sees it in the shape of its own dialect.
    gateway.hook(
      'request',
      (ctx) => {
        const word = refuse.find((candidate) => saidByUser(ctx.request).includes(candidate))
        if (word !== undefined) {
          gateway.events.emit('house-rules.blocked', { word })
          throw GatewayError.blocked(`house-rules: ${word}`)
        }
        if (places === 0) throw GatewayError.rateLimited('Too many requests at once.', 1000)
        places--
        running.inc()
        // A lease ends exactly once, whichever way the request does: answered, refused, failed, aborted.
        ctx.hold({
          settle() {
            places++
            running.dec()
          },
        })
      },
      { when: (ctx) => ctx.operation === 'chat' },
    )

    const clean = (text: string, stream: boolean): string => {
      const parts = text.split(codeName)
      if (parts.length > 1) masked.inc({ stream: String(stream) }, parts.length - 1)
      return parts.join('█'.repeat(codeName.length))
    }
    gateway.hook('stream', () => wordByWord((text) => clean(text, true)))
    gateway.hook('response', (_ctx, frozen) => {
      // Read freely, change copies only.
      const response = frozen as CanonicalResponse
      const choices = response.choices.map((choice) => ({
        ...choice,
        parts: choice.parts.map((part) => (part.t === 'text' ? { ...part, text: clean(part.text, false) } : part)),
      }))
      return { ...response, choices }
    })
  },
})

function saidByUser(request: Frozen<CanonicalRequest>): string {
  return request.messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) => parts.map((part) => (part.t === 'text' ? part.text : '')))
    .join('\n')
}

/** A word may arrive in pieces: what stands behind the last space waits for the next piece. */
function wordByWord(clean: (text: string) => string): StreamTransform {
  const waiting = new Map<string, string>()
  return {
    event(event, emit) {
      if (event.e === 'delta' && 'text' in event.d) {
        const key = `${event.choice} ${event.part}`
        const text = (waiting.get(key) ?? '') + event.d.text
        const end = text.lastIndexOf(' ') + 1
        waiting.set(key, text.slice(end))
        if (end > 0) emit({ ...event, d: { text: clean(text.slice(0, end)) } })
      } else if (event.e === 'part_stop' && event.full.t === 'text') {
        const { choice, part, full } = event
        const rest = waiting.get(`${choice} ${part}`) ?? ''
        if (rest !== '') emit({ e: 'delta', choice, part, d: { text: clean(rest) } })
        emit({ ...event, full: { ...full, text: clean(full.text) } })
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
