// Follows the file of rules while the gateway runs; an invalid file never removes valid rules.
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type FakeClock, fakeClock, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { until } from '../../adapters/node/support.ts'
import { recordingLog } from '../../support/recording-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'payload-rules-'))
afterAll(() => rmSync(folder, { recursive: true }))
const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})
let files = 0
let edits = 0

interface Running {
  t: TestGateway
  clock: FakeClock
  log: ReturnType<typeof recordingLog>
  path: string
}

function write(path: string, content: unknown): void {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  // Two writes of a test may fall into one tick of the file system's clock.
  const at = new Date(Date.UTC(2026, 0, 1) + ++edits * 1000)
  utimesSync(path, at, at)
}

async function gateway(content?: unknown, env: Record<string, string> = {}): Promise<Running> {
  const path = join(folder, `${++files}.json`)
  if (content !== undefined) write(path, content)
  const clock = fakeClock()
  const log = recordingLog()
  const t = await createTestGateway({
    env: { PAYLOAD_RULES_PATH: path, ...env },
    ports: { clock, log },
    upstream: [text('one'), text('two'), text('three')],
  })
  open.push(t)
  return { t, clock, log, path }
}

async function marked({ t }: Running): Promise<unknown> {
  const response = await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] })
  expect(response.status, await response.text()).toBe(200)
  return t.upstream.requests.at(-1)!.json.marked
}

/** Advances 1.1 seconds, and collects log lines about the file. */
async function aSecondLater({ clock, log }: Running): Promise<void> {
  const said = log.lines.length
  await clock.advance(1100)
  await until(() => log.lines.length > said)
}

const marking = (marked: unknown) => ({ rules: [{ name: 'mark', override: { marked } }] })

describe('a file that changes', () => {
  it('counts within 1.1 seconds', async () => {
    const run = await gateway(marking(1))
    expect(await marked(run)).toBe(1)
    write(run.path, marking(2))
    await aSecondLater(run)
    expect(await marked(run)).toBe(2)
  })

  it('and is gone takes its rules with it; one that comes later counts', async () => {
    const run = await gateway(marking(1))
    rmSync(run.path)
    await aSecondLater(run)
    expect(await marked(run)).toBeUndefined()
    write(run.path, marking(3))
    await aSecondLater(run)
    expect(await marked(run)).toBe(3)
  })
})

describe('a file that cannot be used', () => {
  const BAD: Record<string, string> = {
    'half a JSON text': '{"rules":[{"name":"mark"',
    'an unknown member': JSON.stringify([{ name: 'x', overide: { a: 1 } }]),
    'an unknown format': JSON.stringify([{ match: { format: 'smoke' }, set: { a: 1 } }]),
    'a path through a prototype': '[{"override":{"a.constructor.b":1}}]',
    'a path that is a prototype': '[{"override":{"__proto__":1}}]',
    'a path with a hole': '[{"remove":["a..b"]}]',
  }

  it.each(Object.entries(BAD))('%s: the rules stay, and it is said once', async (_name, content) => {
    const run = await gateway(marking(1))
    write(run.path, content)
    await aSecondLater(run)
    await run.clock.advance(1100)
    expect(await marked(run)).toBe(1)
    expect(run.log.lines.filter(({ level, message }) => level === 'error' && message.startsWith('payload_rules.'))).toHaveLength(
      1,
    )
  })

  it('or is not there does not stop the boot', async () => {
    const run = await gateway()
    expect(await marked(run)).toBeUndefined()
    expect(run.log.lines.filter(({ level, message }) => level === 'warn' && message.startsWith('payload_rules.'))).toHaveLength(1)
  })

  it('is mended without a restart', async () => {
    const run = await gateway('nonsense')
    expect(await marked(run)).toBeUndefined()
    write(run.path, marking(4))
    await aSecondLater(run)
    expect(await marked(run)).toBe(4)
  })
})

it('says which reserved paths it leaves out', async () => {
  const { log } = await gateway([{ name: 'bold', override: { model: 'x', temperature: 1 } }])
  expect(log.lines.find(({ level }) => level === 'warn')).toMatchObject({ fields: { ignored: ['bold: model'] } })
})

it('cached answers are those of the rules they were made under', async () => {
  const run = await gateway(marking(1), { DEDUP_TTL_MS: '600000' })
  const asked = async () => {
    const response = await run.t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] })
    await response.text()
    return response.headers.get('x-gateway-cache')
  }
  expect([await asked(), await asked()]).toEqual(['miss', 'hit'])
  write(run.path, marking(2))
  await aSecondLater(run)
  expect([await asked(), await asked()]).toEqual(['miss', 'hit'])
  expect(run.t.upstream.requests.map(({ json }) => json.marked)).toEqual([1, 2])
})
