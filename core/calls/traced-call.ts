// Calls to the data plane that report what happens to them. They run in a copy of the runtime with hooks and a transport that report, so
// that other requests measure nothing.
import type { RequestHooks } from '../hooks/compile.ts'
import { ANONYMOUS } from '../pipeline/context-init.ts'
import { runExchange } from '../pipeline/pipeline.ts'
import type { Runtime } from '../pipeline/runtime.ts'
import type { Generation } from '../plugins/generation.ts'
import { isForeign } from '../records/request-record.ts'
import { MaskedText } from '../text/masked-text.ts'
import { credentialsIn } from '../text/sanitize.ts'
import { secretMask } from '../text/secret-mask.ts'
import { HIDDEN, shownRequest } from '../text/shown-request.ts'
import type { TracedCalls, TraceLanes } from '../types/playground.ts'
import type { ActsFor, Sink, Transport, WireRequest } from '../types/ports/ports.ts'
import type { Operation } from '../types/request/canonical.ts'
import { draftCall, draftIngress } from './draft-call.ts'

export function tracedCalls(runtime: Runtime): TracedCalls {
  return {
    async run(draft, actsFor, lanes, signal) {
      const ingress = draftIngress(draftCall(draft), actsFor)
      const borders: Borders = { crossed: false }
      const transport = tracedTransport(runtime.transport, borders, lanes)
      const generation = tracedGeneration(runtime.generation, transport, borders, actsFor, lanes)
      const own: Runtime = Object.create(runtime, { generation: { value: generation }, transport: { value: transport } })
      const { sink, left } = tracedSink(lanes, signal)
      signal.addEventListener('abort', left, { once: true })
      await runExchange(own, ingress, sink)
      signal.removeEventListener('abort', left)
    },
  }
}

/** The transport does not know whose connection it calls. Calls may overlap, so the first foreign one hides those after it, too. */
interface Borders {
  crossed: boolean
}

function tracedGeneration(
  generation: Generation,
  transport: Transport,
  borders: Borders,
  actsFor: ActsFor,
  lanes: TraceLanes,
): Generation {
  const hooks = generation.tracedHooks({
    plugin: '',
    wants: () => true,
    ran: (_ctx, { plugin, hook, ms, error }) =>
      lanes.hook({ plugin, hook, us: Math.round(ms * 1000), failed: error !== undefined }),
  })
  const of = (operation: Operation): RequestHooks => {
    const own = hooks.of(operation)
    return {
      ...own,
      authenticate: actsFor.keyId === null ? () => ({ ...ANONYMOUS, orgId: actsFor.orgId }) : own.authenticate,
      encoded(ctx, call) {
        borders.crossed ||= isForeign(call.candidate)
        return own.encoded?.(ctx, call)
      },
      settled(ctx, outcome) {
        lanes.settled(ctx, outcome)
        return own.settled?.(ctx, outcome)
      },
    }
  }
  return { ...generation, transport, hooks: { ...hooks, of } }
}

function tracedTransport(transport: Transport, borders: Borders, lanes: TraceLanes): Transport {
  let calls = 0
  return {
    send(wire, handler) {
      const call = ++calls
      const secrets = credentialsIn(named(wire))
      const shown = shownRequest(wire, secretMask(secrets))
      const shared = borders.crossed
      lanes.upstream(call, shared ? { ...shown, url: HIDDEN, headers: {} } : shown, shared)
      const text = new MaskedText(secrets)
      const told = (piece: string): void => {
        if (piece !== '' && !shared) lanes.raw(call, piece)
      }
      return transport.send(wire, {
        head(status, headers) {
          lanes.answered(call, status)
          handler.head(status, headers)
        },
        data(chunk) {
          told(text.push(chunk))
          const drained = lanes.drained()
          const paced = handler.data(chunk)
          return drained === undefined ? paced : Promise.all([paced, drained]).then(() => undefined)
        },
        end() {
          told(text.end())
          handler.end()
        },
        error(error) {
          told(text.end())
          handler.error(error)
        },
      })
    },
    close: () => transport.close(),
  }
}

function named({ headers }: WireRequest): Record<string, string> {
  const values: Record<string, string> = {}
  for (let i = 0; i < headers.length; i += 2) values[headers[i] as string] = headers[i + 1] as string
  return values
}

function tracedSink(lanes: TraceLanes, signal: AbortSignal): { sink: Sink; left: () => void } {
  const decoder = new TextDecoder()
  let leave: (() => void) | null = null
  const told = (text: string): void => {
    if (text !== '') lanes.delivered(text)
  }
  const sink: Sink = {
    head: (status, headers) => lanes.head(status, headers),
    write(chunk) {
      told(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))
      return lanes.drained() === undefined
    },
    drained: () => lanes.drained(),
    end(chunk) {
      if (chunk !== undefined) sink.write(chunk)
      told(decoder.decode())
    },
    get gone() {
      return signal.aborted
    },
    onGone(fn) {
      leave = fn
      if (signal.aborted) fn()
    },
  }
  return { sink, left: () => leave?.() }
}
