// hookgate/edge on Node: connections from the configuration, failover, and outbound calls of plugins. `npm run runtimes` runs it on workerd.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/edge/gateway.ts'
import { choose, fail, reply } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { checkedFetch, checkedMedia, checkedPost } from '../../../adapters/transport/checked-fetch.ts'
import { silentLog } from '../../../core/log.ts'

let upstream: ScriptedUpstream
beforeEach(async () => {
  upstream = await scriptedUpstream(
    choose(({ headers }) =>
      headers.authorization === 'Bearer sk-down' ? fail(503) : reply({ text: String(headers.authorization) }),
    ),
  )
})
afterEach(() => upstream.close())

describe('the gateway of hookgate/edge', () => {
  const ask = async (connections: object, model: string) => {
    const gateway = await createGateway({ connections: connections as never }, { log: silentLog })
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
    const headers = { 'content-type': 'application/json' }
    const answer = await gateway.fetch(new Request('http://edge.test/v1/chat/completions', { method: 'POST', headers, body }))
    const result = { status: answer.status, body: (await answer.json()) as { choices?: { message: { content: string } }[] } }
    await gateway.close()
    return result
  }
  const at = (more: object) => ({ provider: 'mistral', baseUrl: upstream.baseUrl('chat'), ...more })

  it('uses the connection with the lowest priority, and the next one when it fails', async () => {
    const connections = { b: at({ apiKey: 'sk-second', priority: 2 }), a: at({ apiKey: 'sk-first', priority: 1 }) }
    expect((await ask(connections, 'mistral/m')).body.choices?.[0]?.message.content).toBe('Bearer sk-first')
    const down = { ...connections, a: at({ apiKey: 'sk-down', priority: 1 }) }
    expect((await ask(down, 'mistral/m')).body.choices?.[0]?.message.content).toBe('Bearer sk-second')
  })

  it('leaves out connections that are disabled or do not allow the model, and refuses an unknown provider', async () => {
    const connections = {
      off: at({ apiKey: 'sk-off', priority: 1, enabled: false }),
      other: at({ apiKey: 'sk-other', priority: 2, allowedModels: ['large-*'] }),
      right: at({ apiKey: 'sk-right', priority: 3 }),
    }
    expect((await ask(connections, 'mistral/small')).body.choices?.[0]?.message.content).toBe('Bearer sk-right')
    expect((await ask(connections, 'mistral/large-1')).body.choices?.[0]?.message.content).toBe('Bearer sk-other')
    expect((await ask(connections, 'groq/m')).status).toBe(400)
    expect((await ask(connections, 'mistral/')).status).toBe(400)
  })
})

describe('outbound calls on fetch', () => {
  const calls: { url: string; init: RequestInit | undefined }[] = []
  const answering = (...answers: Response[]): typeof fetch => {
    calls.length = 0
    return async (input, init) => {
      calls.push({ url: String(input), init })
      return answers.shift() as Response
    }
  }
  const moved = (location: string) => new Response('moved', { status: 302, headers: { location } })

  it('are refused for internal addresses, also behind a redirect', async () => {
    await expect(checkedFetch(answering())('http://169.254.169.254/latest')).rejects.toMatchObject({ status: 400 })
    await expect(checkedFetch(answering(moved('http://10.0.0.1/')))('https://public.example/')).rejects.toMatchObject({
      status: 400,
    })
    await expect(
      checkedPost(answering())({ url: 'http://localhost/', headers: {}, body: '', signal: AbortSignal.timeout(1000) }),
    ).rejects.toMatchObject({ status: 400 })
    expect(calls).toEqual([])
  })

  it('follow three redirects of a GET, none of a POST', async () => {
    const send = answering(moved('/a'), moved('/b'), moved('/c'), new Response('there'))
    expect(await (await checkedFetch(send)('https://public.example/')).text()).toBe('there')
    expect(calls.map(({ url }) => url)).toEqual(['/', '/a', '/b', '/c'].map((path) => `https://public.example${path}`))
    const endless = answering(...'abcde'.split('').map((path) => moved(`/${path}`)))
    await expect(checkedFetch(endless)('https://public.example/')).rejects.toMatchObject({ status: 502 })
    expect((await checkedFetch(answering(moved('/a')))('https://public.example/', { method: 'POST' })).status).toBe(302)
  })

  it('fetch media as base64, at most 20 MB', async () => {
    const bytes = Uint8Array.from({ length: 50_000 }, (_, index) => index % 251)
    const headers = { 'content-type': 'image/png; charset=binary' }
    const signal = AbortSignal.timeout(10_000)
    const media = await checkedMedia(answering(new Response(bytes, { headers })))('https://public.example/a.png', signal)
    expect(media).toEqual({ mime: 'image/png', data: Buffer.from(bytes).toString('base64') })
    const large = checkedMedia(answering(new Response(new Uint8Array(20 * 1024 * 1024 + 1))))
    await expect(large('https://public.example/a.png', signal)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/20 MB/),
    })
    const gone = checkedMedia(answering(new Response('', { status: 404 })))
    await expect(gone('https://public.example/a.png', signal)).rejects.toMatchObject({ status: 400 })
  })
})
