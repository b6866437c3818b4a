// Follows a changing file: every way of replacing it works, and the last state wins.
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { type LoadedGateway, loadGateway } from '../../../adapters/node/loading/load-gateway.ts'
import { silentLog } from '../../../core/log.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { folder } from '../cli/hookgate.ts'
import { ask, eventually, until } from './support.ts'

const NOTHING = 'export default { connections: {} }'
const ECHO = `export default { connections: { echo: { provider: 'echo' } } }`

const opened: LoadedGateway[] = []
afterEach(async () => {
  for (const loaded of opened.splice(0)) await loaded.close()
})

async function follow(cwd: string, watch: boolean, log: Logger = silentLog): Promise<LoadedGateway> {
  const loaded = await loadGateway({ cwd, env: {}, watch, ports: { log } })
  opened.push(loaded)
  return loaded
}

async function answers({ gateway }: LoadedGateway): Promise<boolean> {
  const { path, body } = ask('chat', 'echo/echo-1')
  const request = new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body) })
  return (await gateway.fetch(request)).status === 200
}

it('a mounted ConfigMap is followed: a link in front of the file leads elsewhere', async () => {
  const cwd = folder({})
  for (const [version, text] of Object.entries({ v1: NOTHING, v2: ECHO })) {
    mkdirSync(join(cwd, version))
    writeFileSync(join(cwd, version, 'gateway.config.mjs'), text)
  }
  symlinkSync('v1', join(cwd, '..data'))
  symlinkSync('..data/gateway.config.mjs', join(cwd, 'gateway.config.mjs'))
  const loaded = await follow(cwd, true)
  expect(await answers(loaded)).toBe(false)
  symlinkSync('v2', join(cwd, '..next'))
  renameSync(join(cwd, '..next'), join(cwd, '..data'))
  await eventually(() => answers(loaded))
})

it('what was saved last holds, also when what was saved before takes longer to load', async () => {
  let go = (): void => {}
  const loading = new Promise<void>((resolve) => {
    go = resolve
  })
  let asked = false
  Object.assign(globalThis, {
    __load() {
      asked = true
      return loading
    },
  })
  const cwd = folder({ 'gateway.config.mjs': NOTHING })
  const save = (text: string) => writeFileSync(join(cwd, 'gateway.config.mjs'), text)
  const loaded = await follow(cwd, false)
  save(`await globalThis.__load()\n${NOTHING}`)
  const slow = loaded.reload()
  await until(() => asked)
  save(ECHO)
  const last = loaded.reload()
  // Time for the one that must wait.
  await Promise.race([last, sleep(200)])
  go()
  await Promise.all([slow, last])
  expect(await answers(loaded)).toBe(true)
})

it('what only a start reads is said to need one', async () => {
  const cwd = folder({ 'gateway.config.mjs': 'export default { options: { port: 1 } }' })
  const told: object[] = []
  const loaded = await follow(cwd, false, { ...silentLog, warn: (message, fields) => void told.push({ message, ...fields }) })
  const save = (options: string) => writeFileSync(join(cwd, 'gateway.config.mjs'), `export default { options: { ${options} } }`)
  save(`port: 1, streamHeartbeatMs: 7`)
  await loaded.reload()
  expect(told).toEqual([])
  save(`port: 2, databaseUrl: 'postgres://db/gateway'`)
  await loaded.reload()
  const variables = ['GATEWAY_PORT', 'GATEWAY_DATABASE_URL']
  expect(told).toEqual([expect.objectContaining({ message: 'config.needs_restart', variables })])
})
