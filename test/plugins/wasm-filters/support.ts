// A gateway with filters that were written a moment ago, and requests to it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, afterEach } from 'vitest'
import { createTestGateway, type FakeClock, fakeClock, type Step, type TestGateway } from '../../../adapters/testing/index.ts'
import type { PresetOptions } from '../../../plugins/preset.ts'
import { preset } from '../../../plugins/preset.ts'
import { type RecordingLog, recordingLog } from '../../support/recording-log.ts'

type Options = Exclude<NonNullable<PresetOptions['wasmFilters']>, false>

/** Times that a busy machine keeps to; those that a guest is to run over are given by the test. */
export const AMPLE = { init: 20_000, request: 5000, response: 5000, chunk: 5000, queue: 20_000 }

export interface Filtered {
  readonly t: TestGateway
  readonly clock: FakeClock
  readonly log: RecordingLog
  failures(): Promise<Record<string, number>>
}

type Opener = (
  modules: readonly Uint8Array[],
  options?: Options & { upstream?: Step[] /** `echo/echo-1` says what it is asked. */; echo?: boolean },
) => Promise<Filtered>

/** Gateways that are closed behind each test: called once a file. */
export function filteredOnes(): Opener {
  const folder = mkdtempSync(join(tmpdir(), 'wasm-filters-'))
  afterAll(() => rmSync(folder, { recursive: true, maxRetries: 3 }))
  const open: TestGateway[] = []
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close()
  })
  let files = 0
  return async (modules, { upstream, echo = false, ...options } = {}) => {
    const paths = modules.map((module) => {
      const path = join(folder, `${++files}.wasm`)
      writeFileSync(path, module)
      return path
    })
    const clock = fakeClock()
    const log = recordingLog()
    const wasmFilters = { path: paths.join(delimiter), ...options, timeouts: { ...AMPLE, ...options.timeouts } }
    const t = await createTestGateway({
      config: { ...(echo && { connections: { echo: { provider: 'echo' } } }), plugins: preset({ wasmFilters }) },
      ...(upstream && { upstream }),
      ports: { clock, log },
    })
    open.push(t)
    return { t, clock, log, failures: () => failuresOf(t) }
  }
}

async function failuresOf(t: TestGateway): Promise<Record<string, number>> {
  const text = await (await t.fetch('/metrics')).text()
  const lines = [...text.matchAll(/^gateway_wasm_failures_total\{reason="(\w+)"\} (\d+)$/gm)]
  return Object.fromEntries(lines.map(([, reason, count]) => [reason, Number(count)]))
}

export function chat(content: string, more: object = {}): object {
  return { model: 'chat/m', messages: [{ role: 'user', content }], ...more }
}
