// `hookgate status`: what needs attention, from the database.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { ask, post } from '../node/support.ts'
import { folder, hookgate, serving } from './hookgate.ts'
import { command } from './in-process.ts'

describe('hookgate status', () => {
  it('says that nothing needs attention, and before the first start that the database lacks what the file says', async () => {
    const cwd = folder({})
    const early = await command(['status'], { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data` } })
    expect([early.code, early.stdout]).toEqual([0, expect.stringMatching(/warning +plan_drift/)])
    await command(['apply'], { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data` } })
    const port = await freePort()
    const env = { GATEWAY_DATA_DIR: `${cwd}/data`, GATEWAY_PORT: String(port) }
    const { code, stdout, stderr } = await command(['status'], { cwd, env })
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toMatch(/Nothing needs attention/)
    expect(stderr).toContain(`No server answers on http://127.0.0.1:${port}. This is the state of the database.`)
    const json = await command(['status', '--json'], { cwd, env: { GATEWAY_DATA_DIR: `${cwd}/data` } })
    expect([json.code, JSON.parse(json.stdout)]).toEqual([0, { data: [] }])
  })

  it('prints a table and ends with 1 when something is critical', async () => {
    const cwd = folder({
      'gateway.config.ts': `import { defineConfig } from 'hookgate'
        export default defineConfig({ virtualModels: { coder: { strategy: 'failover', targets: ['openai/gpt-4o'] } } })`,
    })
    const env = { GATEWAY_DATA_DIR: `${cwd}/data` }
    expect((await command(['apply'], { cwd, env })).code).toBe(0)
    const { code, stdout } = await command(['status'], { cwd, env })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^SEVERITY +KIND +SINCE +WHAT\n/)
    expect(stdout).toMatch(/critical +no_usable_target +- +No target of the virtual model coder can be used now\./)
    expect(stdout).toMatch(/no_usable_target: Its requests are refused\./)
  })

  it('with --url says how many requests moved away from a connection of the running server', async () => {
    const answers = {
      id: 'c',
      object: 'chat.completion',
      model: 'm',
      created: 1,
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    }
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }]
    const upstream: Server = createServer((request, response) => {
      request.resume()
      const isDown = request.url?.startsWith('/down') === true
      response.writeHead(isDown ? 503 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isDown ? { error: { message: 'down' } } : { ...answers, choices }))
    }).listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
    const connection = (path: string, priority: number) =>
      `{ provider: 'acme', baseUrl: '${address}/${path}', wireFormat: 'chat', apiKey: process.env.ACME_KEY, priority: ${priority} }`
    const cwd = folder({
      'gateway.config.ts': `import { defineConfig } from 'hookgate'
        export default defineConfig({ connections: { main: ${connection('down', 1)}, backup: ${connection('up', 2)} } })`,
    })
    const server = await serving([], { cwd, env: { GATEWAY_DATA_DIR: join(cwd, 'data'), ACME_KEY: 'sk-acme' } })
    try {
      for (let i = 0; i < 6; i++) expect((await post(server.url, ask('chat', 'acme/m'))).status).toBe(200)
      const { code, stdout } = await hookgate(['status', '--url', server.url], { cwd })
      expect(code).toBe(1)
      expect(stdout).toMatch(/critical +circuit_open .*acme\/main/)
      expect(stdout).toMatch(/circuit_open: 6 requests moved to acme\/backup; none failed\./)
      const env = { GATEWAY_DATA_DIR: join(cwd, 'data'), GATEWAY_PORT: String(server.port), ACME_KEY: 'sk-acme' }
      const beside = await command(['status'], { cwd, env })
      expect(beside.stderr).toContain(`hookgate status --url ${server.url} lists them too`)
    } finally {
      server.child.kill('SIGKILL')
      upstream.closeAllConnections()
      upstream.close()
    }
  })
})
