// The transport on fetch(): answers, failures, back-pressure and aborts.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { choose, raw, reply } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { fetchTransport } from '../../../adapters/transport/fetch.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { Transport, WireRequest } from '../../../core/types/ports/ports.ts'

const TEXT = 'one two three four five six seven eight'

let upstream: ScriptedUpstream
beforeEach(async () => {
  upstream = await scriptedUpstream(
    choose(({ json }) => {
      if (json.model === 'large') return raw(200, 'x'.repeat(5000))
      if (json.model === 'moved') return raw(302, 'there', { headers: { location: '/elsewhere' } })
      if (json.model === 'reset') return { kind: 'reset' }
      if (json.model === 'cut') return reply({ text: TEXT, chunk: 5 }, { cut: { after: 3, how: 'fin' } })
      if (json.model === 'stalls') return reply({ text: TEXT, chunk: 5 }, { stallAfter: 2 })
      return reply({ text: TEXT, chunk: 5 })
    }),
  )
})
afterEach(() => upstream.close())

interface Seen {
  status: number
  text: string
  ended: boolean
  error: GatewayErrorShape | null
  done: Promise<void>
  abort(reason: GatewayErrorShape): void
}

function send(
  transport: Transport,
  model: string,
  more: Partial<WireRequest> = {},
  data?: () => Promise<void> | undefined,
): Seen {
  let finish = (): void => {}
  const done = new Promise<void>((resolve) => {
    finish = resolve
  })
  const seen = { status: 0, text: '', ended: false, error: null as GatewayErrorShape | null, done }
  const body = new TextEncoder().encode(JSON.stringify({ model, stream: more.stream ?? false }))
  const request: WireRequest = {
    method: 'POST',
    url: `${upstream.baseUrl('chat')}/chat/completions`,
    headers: ['content-type', 'application/json', 'x-own', 'kept', 'Host', 'wrong.test', 'Content-Length', '1'],
    body: [body.subarray(0, 5), body.subarray(5)],
    proxyUrl: null,
    connectTimeoutMs: 1000,
    stream: false,
    ...more,
  }
  const { abort } = transport.send(request, {
    head: (status) => {
      seen.status = status
    },
    data: (chunk) => {
      seen.text += new TextDecoder().decode(chunk)
      return data?.()
    },
    end: () => {
      seen.ended = true
      finish()
    },
    error: (error) => {
      expect(seen.error).toBeNull()
      seen.error = error
      finish()
    },
  })
  return Object.assign(seen, { abort })
}

describe('the transport on fetch', () => {
  it('sends the joined body and our headers, without those that fetch writes itself', async () => {
    const seen = send(fetchTransport(), 'm')
    await seen.done
    expect([seen.status, seen.ended, seen.error]).toEqual([200, true, null])
    expect(seen.text).toContain(TEXT)
    const [request] = upstream.requests
    expect(request?.json).toEqual({ model: 'm', stream: false })
    expect(request?.headers).toMatchObject({ 'x-own': 'kept', host: `127.0.0.1:${upstream.port}` })
  })

  it('follows no redirect', async () => {
    const seen = send(fetchTransport(), 'moved')
    await seen.done
    expect([seen.status, upstream.requests.length]).toEqual([302, 1])
  })

  it('refuses a whole answer over the limit, and not a stream', async () => {
    const transport = fetchTransport({ maxResponseBytes: 4999 })
    const whole = send(transport, 'large')
    await whole.done
    expect([whole.ended, whole.error?.message]).toEqual([false, 'The upstream answer is larger than the limit.'])
    const stream = send(transport, 'large', { stream: true })
    await stream.done
    expect([stream.ended, stream.text.length]).toEqual([true, 5000])
  })

  it('tells a call that was never answered from an answer that ended early, and marks neither as safe to resend', async () => {
    const before = send(fetchTransport(), 'reset')
    const after = send(fetchTransport(), 'cut', { stream: true })
    await Promise.all([before.done, after.done])
    expect(before.error).toMatchObject({ status: 502, message: 'The upstream could not be reached.' })
    expect(after.error).toMatchObject({ status: 502, message: expect.stringMatching(/closed the connection before/) })
    expect([before.ended, after.ended, after.status]).toEqual([false, false, 200])
  })

  it('refuses a connection with a proxy, after send() has returned', async () => {
    const seen = send(fetchTransport(), 'm', { proxyUrl: 'socks5://127.0.0.1:1' })
    expect(seen.error).toBeNull()
    await seen.done
    expect(seen.error?.message).toMatch(/no outbound proxies/)
    expect(upstream.requests).toEqual([])
  })

  it('reads no further while the handler waits', async () => {
    let pass = (): void => {}
    const wait = new Promise<void>((resolve) => {
      pass = resolve
    })
    let calls = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        calls++
        if (calls > 20) controller.close()
        else controller.enqueue(new Uint8Array(1))
      },
    })
    let waits = 0
    const seen = send(fetchTransport({ fetch: async () => new Response(body) }), 'm', {}, () =>
      waits++ === 0 ? wait : undefined,
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect([seen.text.length, calls]).toEqual([1, expect.toSatisfy((n: number) => n <= 3)])
    pass()
    await seen.done
    expect([seen.text.length, seen.ended]).toEqual([20, true])
  })

  it('ends the upstream call on abort, and calls the handler no more', async () => {
    let first = (): void => {}
    const arrived = new Promise<void>((resolve) => {
      first = resolve
    })
    const seen = send(fetchTransport(), 'stalls', { stream: true }, () => void first())
    await arrived
    seen.abort(GatewayError.timeout('enough'))
    while (upstream.requests[0]?.abortedAt === null) await new Promise((resolve) => setImmediate(resolve))
    expect([seen.ended, seen.error]).toEqual([false, null])
  })
})
