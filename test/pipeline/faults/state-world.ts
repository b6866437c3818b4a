// One gateway with six accounts for each upstream dialect, and a model of their states. Every request is checked completely: skipped
// accounts with reason and end, called accounts, the resulting state of every account, and the emitted events.
import { expect } from 'vitest'
import {
  createTestGateway,
  type FakeClock,
  fakeClock,
  type ScriptedUpstream,
  scriptedUpstream,
  type TestGateway,
  text,
} from '../../../adapters/testing/index.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { SUBSCRIPTIONS } from '../../../plugins/resilience/events.ts'
import { DIALECTS } from '../support/accounts.ts'
import type { Cell } from '../support/faults.ts'
import { pathAndBody } from '../support/wire.ts'
import { AccountModel, OutageModel } from './state-model.ts'
import { FINE, PAST, type StateFault } from './state-rows.ts'

const ACCOUNTS = 6
const MODEL = 'm'

export interface StateWorld {
  /** The first faults in the order of the calls; later calls are answered. */
  ask(cell: Cell, faults: readonly StateFault[], model?: string): Promise<void>
  /** Returns the number of the upstream's available accounts. */
  usable(upstream: Dialect): number
  /** Makes every unavailable account of the upstream available again, on time and not earlier, and lets it answer. */
  recover(cell: Cell, probeFails: boolean): Promise<void>
  /** For accounts that were called again after an outage: the fault that had caused it. */
  readonly comebacks: string[]
  /** Compares the counters of /metrics with the events. */
  checkMetrics(): Promise<void>
  readonly requests: number
  close(): Promise<void>
}

export async function stateWorld(): Promise<StateWorld> {
  const clock: FakeClock = fakeClock()
  const start = clock.now()
  const iso = (at: number) => new Date(start + at).toISOString()
  const upstream: ScriptedUpstream = await scriptedUpstream(text(FINE))
  const pools = new Map<Dialect, AccountModel[]>()
  const outages = new Map<Dialect, OutageModel>()
  for (const dialect of DIALECTS) {
    pools.set(
      dialect,
      Array.from({ length: ACCOUNTS }, (_, index) => new AccountModel(`up-${dialect}.${index + 1}`)),
    )
    outages.set(dialect, new OutageModel())
  }
  const comebacks: string[] = []
  const told: string[] = []
  /** The time at which each call of the running request failed, or its answer ended. */
  const ends: number[] = []
  const ears = definePlugin({
    name: 'ears',
    setup(gateway) {
      for (const type of Object.keys(SUBSCRIPTIONS) as (keyof typeof SUBSCRIPTIONS)[])
        gateway.events.on(type, (data) => void told.push(worded(type, data as unknown as Record<string, unknown>)))
      const ended = () => void ends.push(clock.monotonic())
      gateway.hook(
        'attempt',
        async (ctx, _candidate, next) => {
          try {
            const result = await next()
            ctx.hold({ settle: ended })
            return result
          } catch (error) {
            ended()
            throw error
          }
        },
        { order: 'pre', before: 'resilience' },
      )
    },
  })
  const t: TestGateway = await createTestGateway({
    // Without reuse a reset belongs to a fresh connection; without heartbeats a failure before content has a status.
    env: { UPSTREAM_POOL_MAX_IDLE_PER_HOST: '0', STREAM_HEARTBEAT_MS: '0' },
    plugins: [ears()],
    ports: { clock },
  })
  for (const [dialect, pool] of pools) {
    const up = { provider: `up-${dialect}`, base_url: upstream.baseUrl(dialect), wire_format: dialect }
    for (const { label } of pool) {
      const made = await t.post('/api/providers', { ...up, label, api_key: `sk-of-${label}` })
      expect(made.status, await made.text()).toBe(201)
    }
  }
  const ids = new Map((await listed(t)).map(({ id, label }) => [label, id]))
  const counted = new Map<string, number>()
  const count = (series: string) => counted.set(series, (counted.get(series) ?? 0) + 1)
  const poolOf = (dialect: Dialect) => pools.get(dialect) as AccountModel[]

  async function ask(cell: Cell, faults: readonly StateFault[], model = MODEL): Promise<void> {
    const pool = poolOf(cell.upstream)
    const provider = `up-${cell.upstream}`
    const before = clock.monotonic()
    const blocks = pool.flatMap((account) => {
      const block = account.out(model, before)
      if (block !== null) count(`skips{provider="${provider}",reason="${block.reason}"}`)
      const until = block === null || block.until === 0 ? undefined : start + block.until
      return block === null ? [] : [[account.label, 'skipped', block.reason, until]]
    })
    const open = pool.filter((account) => account.out(model, before) === null)
    upstream.script(...faults.map((fault) => fault.step(cell)), text(FINE))
    const [calls, settled] = [upstream.requests.length, t.settled.length]
    told.length = 0
    ends.length = 0
    const { path, body } = pathAndBody(cell.caller, `${provider}/${model}`, cell.stream)
    const asking = t.post(path, body).then(async (response) => ({ status: response.status, body: await response.text() }))
    for (const [index, fault] of faults.entries()) if (fault.stalls) await passIdle(calls, index)
    const seen = await asking
    await t.untilSettled(settled + 1)

    const now = clock.monotonic()
    const events: string[] = []
    const expected: unknown[] = [...blocks]
    let status = 200
    for (const [index, account] of open.entries()) {
      const fault = faults[index]
      const at = ends[index] ?? now
      if (fault !== PROBE && account.outBy !== null) comebacks.push(account.outBy)
      const stops = fault === undefined || fault.returns !== undefined || fault.started === true
      expected.push([account.label, stops && fault?.returns === undefined ? 'returned' : actionOf(fault), undefined, undefined])
      if (fault === undefined) events.push(...account.succeeded(model, at).map((event) => `${account.label} ${event}`))
      else {
        const own = account.failed(fault.effect, model, at)
        events.push(...own.map((event) => `${account.label} ${event}`))
        for (const event of own) if (event.includes('cooldown_started')) count(cooldownSeries(provider, event))
        if (fault.fault) events.push(...(outages.get(cell.upstream) as OutageModel).fault(at).map((e) => `${provider} ${e}`))
        status = fault.returns ?? 200
      }
      if (fault !== PROBE) account.outBy = account.out(model, now) === null ? null : (fault?.row ?? null)
      if (stops) break
    }
    const attempts = t.settled[settled]?.ctx.attempts ?? []
    const timeline = attempts.map(({ candidate, action, skipped }) => [
      ...[candidate.connection.label, action, skipped?.reason, skipped?.until],
    ])
    expect(timeline, 'the timeline').toEqual(expected)
    expect(upstream.requests.length - calls, 'upstream calls').toBe(expected.length - blocks.length)
    expect(seen.status, seen.body.slice(0, 300)).toBe(status)
    await new Promise((resolve) => setImmediate(resolve))
    expect([...told].map((line) => labelled(line, ids)).sort(), 'events').toEqual(events.sort())
    const states = new Map((await listed(t)).map(({ label, state }) => [label, state]))
    for (const account of pool) expect(states.get(account.label), account.label).toEqual(account.record(now, iso))
  }

  /** The call sends nothing more: the clock advances until the gateway aborts it. */
  async function passIdle(calls: number, index: number): Promise<void> {
    await expect.poll(() => upstream.requests.length, { interval: 1 }).toBe(calls + index + 1)
    for (let tens = 0; ends.length <= index; tens++) {
      if (tens > 60) throw new Error('The gateway waits for ever.')
      await clock.advance('10s')
    }
  }

  /** Makes the request call the account: those before it are skipped. */
  async function serves(cell: Cell, account: AccountModel, ...faults: StateFault[]): Promise<void> {
    const pool = poolOf(cell.upstream)
    const before = pool.slice(0, pool.indexOf(account)).filter((one) => one.out(MODEL, clock.monotonic()) === null)
    await ask(cell, [...before.map(() => PAST), ...faults])
  }

  async function recover(cell: Cell, probeFails: boolean): Promise<void> {
    for (let fails = probeFails; ; ) {
      const pool = poolOf(cell.upstream)
      const waiting = pool.flatMap((account) => {
        const block = account.out(MODEL, clock.monotonic())
        return block === null ? [] : [{ account, until: block.until }]
      })
      const [next] = waiting.sort((a, b) => a.until - b.until)
      if (next === undefined) return
      const { account, until } = next
      if (account.refused) {
        const edit = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"api_key":"sk-another"}' }
        expect((await t.fetch(`/api/providers/${ids.get(account.label)}`, edit)).status).toBe(200)
        account.edited()
      } else {
        await clock.advance(until - clock.monotonic() - 1)
        await ask(cell, [])
        await clock.advance(1)
        // It may have been unavailable for more than one reason.
        if (account.out(MODEL, clock.monotonic()) !== null) continue
      }
      if (fails && account.circuit !== null) {
        fails = false
        await serves(cell, account, PROBE)
        continue
      }
      await serves(cell, account)
    }
  }

  return {
    ask,
    recover,
    comebacks,
    usable: (dialect) => poolOf(dialect).filter((account) => account.out(MODEL, clock.monotonic()) === null).length,
    async checkMetrics() {
      const shown = (await (await t.fetch('/metrics')).text())
        .split('\n')
        .flatMap((line) =>
          /^gateway_account_(?:skips|cooldowns)_total/.test(line) ? [line.slice('gateway_account_'.length)] : [],
        )
      const series = [...counted].map(([name, value]) => `${name.replace('{', '_total{')} ${value}`)
      expect(shown.filter((line) => !line.endsWith(' 0')).sort()).toEqual(series.sort())
    },
    get requests() {
      return t.settled.length
    },
    async close() {
      await t.close()
      await upstream.close()
    },
  }
}

const PROBE: StateFault = {
  ...PAST,
  title: 'a probe',
  step: () => ({ kind: 'fail', status: 500, message: 'no' }),
  effect: { breaker: true },
  fault: true,
}

function actionOf(fault: StateFault | undefined): string | undefined {
  return fault?.returns === undefined ? 'next_account' : undefined
}

function cooldownSeries(provider: string, event: string): string {
  return `cooldowns{provider="${provider}",source="${event.split(' ')[1]}"}`
}

interface Listed {
  id: number
  label: string
  state: Record<string, unknown>
}

async function listed(t: TestGateway): Promise<Listed[]> {
  const { data } = (await (await t.fetch('/api/providers')).json()) as { data: Listed[] }
  return data.map(({ id, label, state: { last_error: _error, last_used_at: _used, model_locks: locks, ...state } }) => ({
    id,
    label,
    state: { ...state, model_locks: [...(locks as { model: string }[])].sort((a, b) => (a.model < b.model ? -1 : 1)) },
  }))
}

/** As the model writes the event, behind its owner. */
function worded(type: string, data: Record<string, unknown>): string {
  const facts = [data.source, data.retry_after_seconds, data.consecutive_failures, data.open_for_ms, data.severity]
  return [data.account_id ?? data.provider, type, ...facts.filter((fact) => fact !== undefined)].join(' ')
}

function labelled(line: string, ids: ReadonlyMap<string, number>): string {
  const [whose = '', ...rest] = line.split(' ')
  const label = [...ids].find(([, id]) => String(id) === whose)?.[0] ?? whose
  return [label, ...rest].join(' ')
}
