// A library logs nothing and makes no outbound calls unless the host allows it.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { inScratch } from '../../markdown.ts'
import { built, hookgateRoot, run } from '../cli/hookgate.ts'

/** Serves a request, waits longer than the delay of the first price fetch, and ends. */
const program = (options: string) => `import { createGateway } from 'hookgate'
const gateway = await createGateway({ connections: { echo: { provider: 'echo' } }, options: ${options} })
const body = JSON.stringify({ model: 'echo/echo-1', messages: [{ role: 'user', content: 'Hello' }] })
const answer = await gateway.fetch(new Request('http://library.test/v1/chat/completions', { method: 'POST', body }))
await answer.text()
await new Promise((resolve) => setTimeout(resolve, 4000))
await gateway.close()
console.log(answer.status)
`

it('a gateway of a library logs nothing and fetches nothing; with `pricingSyncEnabled` it fetches', {
  timeout: 120_000,
}, async () => {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(503).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/card`
  const sources = `pricingSyncUrl: '${url}', pricingFallbackUrl: '${url}'`
  await built()
  const outcome = (options: string) =>
    inScratch({ 'main.mjs': program(options) }, (path) => run([`${path}/main.mjs`], { cwd: hookgateRoot }))
  expect(await outcome(`{ ${sources} }`)).toMatchObject({ code: 0, stdout: '200\n', stderr: '' })
  expect(asked).toEqual([])
  const told = await outcome(`{ ${sources}, pricingSyncEnabled: true }`)
  expect(told.stdout).toBe('200\n')
  expect(asked.length).toBeGreaterThan(0)
  expect(told.stderr).toMatch(/pricing\.sync_failed/)
  server.close()
})
