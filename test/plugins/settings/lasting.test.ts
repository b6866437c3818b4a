// Settings beyond one process and one configuration: restarts, replicas, reloads.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import { preset } from '../../../plugins/preset.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { type Knobs, knobs } from './support.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function open(options: TestGatewayOptions): Promise<TestGateway> {
  const t = await createTestGateway(options)
  ends.push(() => t.close())
  return t
}

function dataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-settings-'))
  ends.push(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const put = (t: TestGateway, body: object) =>
  t.fetch('/api/settings', { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const document = async (t: TestGateway) => (await (await t.fetch('/api/settings')).json()) as Record<string, unknown>

const missing = (await whyNoPostgres()) ?? ''
const SITES: [string, string, () => Promise<Record<string, string>>][] = [
  ['SQLite', '', async () => ({ DATA_DIR: dataDir() })],
  [
    'PostgreSQL',
    missing,
    async () => {
      const database = await testPostgres()
      ends.push(() => database.drop())
      return { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('base64') }
    },
  ],
]

for (const [name, why, place] of SITES) {
  describe.skipIf(why !== '')(`settings across processes over ${name}${why && ` (skipped: ${why})`}`, () => {
    it('are there after a restart, before the first request', async () => {
      const env = await place()
      const first = await createTestGateway({ env, plugins: [knobs().plugin] })
      await put(first, { buffer: { size: 7 } })
      await first.close()
      const again = knobs()
      await open({ env, plugins: [again.plugin] })
      expect(again.get('buffer.size')).toBe(7)
      expect(again.told).toEqual([])
    })

    it('reach another replica within two seconds, whose watchers hear of them once', async () => {
      const env = await place()
      const clock = fakeClock()
      const there: Knobs = knobs()
      const a = await open({ env, plugins: [knobs().plugin] })
      await open({ env, plugins: [there.plugin], ports: { clock } })
      await put(a, { access_log: { bodies: true } })
      expect(there.get('access_log.bodies')).toBe(false)
      await clock.advance('2s')
      await expect.poll(() => there.get('access_log.bodies')).toBe(true)
      await clock.advance('10s')
      expect(there.told).toEqual([['access_log.bodies', true]])
    })

    it('two replicas that change parts of one object at once lose neither part', async () => {
      const env = await place()
      const a = await open({ env, plugins: [knobs().plugin] })
      const b = await open({ env, plugins: [knobs().plugin] })
      const parts = Array.from({ length: 8 }, (_, i) => put(i % 2 ? a : b, { clients: { [`c${i}`]: { id: `${i}` } } }))
      for (const response of await Promise.all(parts)) expect(response.status).toBe(200)
      const last = (await (await put(b, {})).json()) as { clients: object }
      expect(Object.keys(last.clients)).toHaveLength(8)
    })
  })
}

describe('settings across reloads', () => {
  const declaring = (name: string, settings: Record<string, z.ZodType>): Plugin => definePlugin({ name, settings, setup() {} })()

  it('a plugin taken away and put back finds its stored values, and what it left behind does no harm', async () => {
    const made = knobs()
    const t = await open({ plugins: [made.plugin] })
    const with_ = (...plugins: Plugin[]) => t.gateway.reload({ plugins: [...preset(), ...plugins] })
    await put(t, { buffer: { size: 3 } })
    await with_()
    expect(await document(t)).not.toHaveProperty('buffer')
    expect((await put(t, { buffer: { size: 4 } })).status).toBe(400)
    await with_(made.plugin)
    expect(await document(t)).toMatchObject({ buffer: { size: 3 } })
    expect(made.get('buffer.size')).toBe(3)
    await put(t, { buffer: { size: 5 } })
    expect(made.told.at(-1)).toEqual(['buffer.size', 5])
  })

  it('a stored value that no longer fits its schema is passed over with one warning, until it is reset', async () => {
    const log = recordingLog()
    const t = await open({ plugins: [declaring('old', { 'knob.level': z.number().default(1) })], ports: { log } })
    await put(t, { 'knob.level': 9 })
    await t.gateway.reload({ plugins: [...preset(), declaring('new', { 'knob.level': z.enum(['low', 'high']).default('low') })] })
    for (let i = 0; i < 3; i++) expect(await document(t)).toMatchObject({ knob: { level: 'low' } })
    const warnings = () => log.lines.filter(({ message }) => message === 'setting.ignored')
    expect(warnings()).toHaveLength(1)
    expect(warnings()[0]?.fields).toMatchObject({ key: 'knob.level' })
    await put(t, { 'knob.level': 'high' })
    expect(await document(t)).toMatchObject({ knob: { level: 'high' } })
  })

  it('a failed reload leaves values, watchers and the document as they were', async () => {
    const made = knobs()
    const t = await open({ plugins: [made.plugin] })
    await put(t, { buffer: { size: 3 } })
    const failing = definePlugin({
      name: 'failing',
      setup: (gateway) => gateway.api({ method: 'POST', path: '/api/unaudited', summary: '', handler: () => null }),
    })
    for (const plugins of [
      [...preset(), made.plugin, failing()],
      [...preset(), failing()],
    ]) {
      await expect(t.gateway.reload({ plugins, settings: { 'cache.ttl': '1h' } })).rejects.toThrow()
      expect(await document(t)).toMatchObject({ buffer: { size: 3 }, cache: { ttl: '5m' } })
    }
    await put(t, { buffer: { size: 4 } })
    expect(made.told).toEqual([
      ['buffer.size', 3],
      ['buffer.size', 4],
    ])
  })

  it('without the plugin that stores them, file and environment hold again', async () => {
    const made = knobs()
    const t = await open({ plugins: [made.plugin] })
    await put(t, { buffer: { size: 3 } })
    await t.gateway.reload({ plugins: [...preset().filter(({ name }) => name !== 'settings'), made.plugin] })
    await expect.poll(() => made.get('buffer.size')).toBe(1024)
    await t.gateway.reload({ plugins: [...preset(), made.plugin] })
    expect(made.get('buffer.size')).toBe(3)
  })

  it('a plugin set up before the one that stores them keeps what the file says meanwhile', async () => {
    const made = knobs()
    const config = { plugins: [made.plugin, ...preset()], settings: { 'cache.ttl': '1h' } }
    await open({ config })
    expect(made.told).toEqual([])
    expect(made.get('cache.ttl')).toBe('1h')
  })

  it('a watcher that fails is logged, and the others hear of the change', async () => {
    const log = recordingLog()
    const made = knobs()
    const broken = definePlugin({
      name: 'broken',
      settings: { 'aaa.first': z.number().default(1) },
      setup(gateway) {
        gateway.settings.watch('aaa.first', () => {
          throw new Error('no')
        })
      },
    })
    const t = await createTestGateway({ plugins: [broken(), made.plugin], ports: { log } })
    ends.push(() => t.close())
    expect((await put(t, { aaa: { first: 2 }, buffer: { size: 3 } })).status).toBe(200)
    expect(made.told).toEqual([['buffer.size', 3]])
    expect(log.lines).toContainEqual(
      expect.objectContaining({ message: 'setting.watcher_failed', fields: expect.objectContaining({ plugin: 'broken' }) }),
    )
  })

  const refused: [string, Plugin[], Record<string, unknown>, RegExp][] = [
    ['a setting nobody declares', [], { 'knob.levle': 1 }, /settings\.knob\.levle: There is no setting/],
    [
      'a wrong type under a value of the API',
      [declaring('a', { 'k.a': z.number().default(1) })],
      { k: { a: 'x' } },
      /settings\.k\.a/,
    ],
    [
      'a setting that two plugins declare',
      [declaring('a', { 'k.a': z.number().default(1) }), declaring('b', { 'k.a': z.number().default(1) })],
      {},
      /`a` and `b` both declare the setting `k\.a`/,
    ],
    [
      'a setting inside another',
      [declaring('a', { k: z.number().default(1) }), declaring('b', { 'k.a': z.number().default(1) })],
      {},
      /`k\.a` of the plugin `b` lies inside the setting `k` of `a`/,
    ],
  ]
  for (const [name, plugins, settings, message] of refused) {
    it(`${name} stops the reload with its name`, async () => {
      const t = await open({ plugins: [declaring('z', { 'k.a': z.number().default(1) })] })
      await put(t, { 'k.a': 2 })
      await expect(t.gateway.reload({ plugins: [...preset(), ...plugins], settings })).rejects.toThrow(message)
      expect(await document(t)).toMatchObject({ k: { a: 2 } })
    })
  }
})
