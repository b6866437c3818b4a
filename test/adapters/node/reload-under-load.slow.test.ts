// Two hundred saves of a plugin while streams run: no request fails, unchanged plugins keep their state, and the next request uses the
// new code.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { loadGateway } from '../../../adapters/node/loading/load-gateway.ts'
import { serve } from '../../../adapters/node/server/serve.ts'
import { reply } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { silentLog } from '../../../core/log.ts'
import { folder } from '../cli/hookgate.ts'
import { ask, post } from './support.ts'

const SAVES = 200
const EVERY_MS = 20

/** Sets headers with the version of its code and the number of requests since its set-up. */
const plugin = (name: string, version: number) => `import { definePlugin } from 'hookgate'
export default definePlugin({
  name: '${name}',
  setup(gateway) {
    let asked = 0
    gateway.hook('access', (ctx) => ctx.responseHeaders.set('x-${name}', '${version} ' + ++asked))
  },
})
`

it('drops no stream and keeps what has not changed', { timeout: 240_000 }, async () => {
  const upstream = await scriptedUpstream(reply({ text: 'word '.repeat(10), chunk: 5 }, { everyMs: 20 }))
  const cwd = folder({
    'gateway.config.ts': `import { defineConfig, preset } from 'hookgate'
export default defineConfig({
  connections: { up: { provider: 'custom', wireFormat: 'chat', baseUrl: '${upstream.baseUrl('chat')}' } },
  plugins: [...preset(), './saved.ts', './same.ts'],
})
`,
    'saved.ts': plugin('saved', 0),
    'same.ts': plugin('same', 0),
  })
  // Caller, upstream and gateway share this process: a busy machine makes its event loop late, and nothing may be refused for that.
  const env = { GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0' }
  const loaded = await loadGateway({ cwd, env, watch: false, ports: { log: silentLog } })
  const server = await serve(loaded.gateway, { host: '127.0.0.1', port: 0, drainMs: 5000, log: silentLog })
  const call = () => post(`http://127.0.0.1:${server.port}`, ask('chat', 'up/m', { stream: true }))
  const failures: string[] = []
  let whole = 0
  let saving = true
  const stream = async (): Promise<void> => {
    try {
      const response = await call()
      const text = await response.text()
      if (response.status === 200 && text.match(/word /g)?.length === 10 && text.endsWith('[DONE]\n\n')) whole++
      else failures.push(`${response.status} ${text.slice(-200)}`)
    } catch (error) {
      failures.push(String(error))
    }
  }
  const running: Promise<void>[] = []
  const load = (async () => {
    while (saving) {
      running.push(stream())
      await sleep(EVERY_MS)
    }
  })()
  try {
    for (let version = 1; version <= SAVES; version++) {
      writeFileSync(join(cwd, 'saved.ts'), plugin('saved', version))
      await loaded.reload()
      const response = await call()
      expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, ''])
      expect(response.headers.get('x-saved')).toMatch(new RegExp(`^${version} `))
      await response.body?.cancel()
    }
    saving = false
    await load
    await Promise.all(running)
    expect(failures).toEqual([])
    expect(whole).toBeGreaterThan(SAVES)
    const response = await call()
    await response.body?.cancel()
    expect(response.headers.get('x-same')).toBe(`0 ${running.length + SAVES + 1}`)
  } finally {
    saving = false
    await server.close()
    await loaded.close()
    await upstream.close()
  }
})
