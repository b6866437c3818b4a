// The servers beside the runtimes, on loopback: a scripted upstream, a SOCKS5 proxy, and the answers to what only the upstream saw.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { choose, fail, reply, scriptedUpstream, socksProxy } from '../../dist/adapters/testing/index.js'

const ANSWER = { text: 'Hello from the scripted upstream.' }

export async function startLane() {
  const upstream = await scriptedUpstream(
    choose(({ headers, json }) => {
      if (String(headers.authorization).endsWith('sk-down')) return fail(503)
      if (json.model === 'stalls') return reply(ANSWER, { stallAfter: 2 })
      if (json.model === 'closes') return { kind: 'reset' }
      return reply(ANSWER)
    }),
  )
  const proxy = await socksProxy()
  const control = createServer(async (request, response) => {
    if (request.url === '/socks') return response.end(String(proxy.tunnels.length))
    const user = new URL(request.url, 'http://lane').searchParams.get('user')
    for (let left = 500; left > 0; left--) {
      if (upstream.requests.some(({ json, abortedAt }) => json.user === user && abortedAt !== null))
        return response.end('aborted')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    response.end('still open')
  })
  await once(control.listen(0, '127.0.0.1'), 'listening')
  return {
    addresses: {
      upstream: `http://127.0.0.1:${upstream.port}`,
      control: `http://127.0.0.1:${control.address().port}`,
      socks: `socks5://127.0.0.1:${proxy.port}`,
    },
    async close() {
      control.close()
      control.closeAllConnections()
      await proxy.close()
      await upstream.close()
    },
  }
}
