// Runs one fault through all sixteen pairs of caller and upstream dialect, plain and streamed, with an official SDK in each cell: with a
// working account after the faulty one, with faulty ones only, and after the first content.
import { expect } from 'vitest'
import type { Step } from '../../../adapters/testing/index.ts'
import { RENDERERS } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import type { Attempt, AttemptAction } from '../../../core/types/request/context.ts'
import { type Accounts, DIALECTS, FINE } from './accounts.ts'
import type { Cells } from './cells.ts'
import { type Ask, isConnectionError, type Raised } from './clients.ts'

export interface Cell {
  caller: Dialect
  upstream: Dialect
  stream: boolean
}

export interface Fault {
  row: string
  title: string
  /** The faulty account's behaviour; absent when the account itself is the fault. */
  step?: (cell: Cell) => Step
  modes?: readonly ('plain' | 'stream')[]
  /** False: the caller gets the fault at once, and no other account is called. */
  moves?: boolean
  /** Status of the caller's error when every account fails. */
  status: number | ((cell: Cell) => number)
  code?: string | null
  retryAfter?: string
  /** The timeline's action of the first attempt when another account answers. */
  action?: AttemptAction
  /** The upstream's own status in the timeline, when it differs from the caller's. */
  attemptStatus?: number
  upstreams?: readonly Dialect[]
  callers?: readonly Dialect[]
  /** Runs beside the request: advances the clock after this number of calls of the faulty account. */
  drive?: (accounts: Accounts, calls: number) => Promise<void>
  /** The failure comes inside a stream that a heartbeat has opened. */
  opened?: true
}

/** Runs every pair × mode of the fault, before the first content. */
export async function beforeContent(accounts: Accounts, cells: Cells, fault: Fault): Promise<void> {
  for (const cell of pairs(fault)) {
    const name = nameOf(cell)
    await cells.run(fault.row, `${fault.title}, ${name}, another account`, () => failsOver(accounts, fault, cell))
    await cells.run(fault.row, `${fault.title}, ${name}, no other account`, () => failsForGood(accounts, fault, cell))
  }
}

async function failsOver(accounts: Accounts, fault: Fault, cell: Cell): Promise<void> {
  const { bad, good, clients } = accounts
  const scripted = arm(accounts, fault, cell)
  const [before, spare] = [bad.requests.length, good.requests.length]
  const [seen] = await Promise.all([
    clients[cell.caller]({ model: `two-${cell.upstream}/m`, stream: cell.stream }),
    fault.drive?.(accounts, before + 1),
  ])
  const { outcome, attempts } = await accounts.settle()
  if (scripted) expect(bad.requests.length - before, 'calls of the faulty account').toBe(1)
  if (fault.moves === false) {
    expectRaised(fault, cell, seen.raised)
    expect(good.requests.length - spare, 'calls of the other account').toBe(0)
    expect(outcome).toMatchObject({ status: statusOf(fault, cell), aborted: false, steps: [], usage: { total: 0 } })
    expect(attempts).toHaveLength(1)
    return
  }
  expect([seen.raised, seen.text]).toEqual([null, FINE])
  expect(good.requests.length - spare, 'calls of the other account').toBe(1)
  expect(attempts.map(({ action }) => action)).toEqual([fault.action ?? 'next_account', 'returned'])
  expect(attempts[0]?.status).toBe(fault.attemptStatus ?? statusOf(fault, cell))
  expect(attempts[0]?.error?.upstream).not.toBeNull()
  expect(outcome).toMatchObject({ status: 200, aborted: false, usage: { inputTotal: 12, outputTotal: 7, estimated: false } })
  expect(outcome.error).toBeUndefined()
  expect(outcome.steps).toMatchObject([{ connectionId: attempts[1]?.candidate.connection.id, status: 200 }])
  expect(attempts.map(labelOf)).toEqual([`two-${cell.upstream}.1`, `two-${cell.upstream}.2`])
}

/** Returns the key in the file, because ids are those of rows. */
function labelOf({ candidate }: Attempt): string {
  return candidate.connection.label
}

async function failsForGood(accounts: Accounts, fault: Fault, cell: Cell): Promise<void> {
  const { bad, clients } = accounts
  const scripted = arm(accounts, fault, cell)
  const before = bad.requests.length
  const calls = fault.moves === false ? 1 : 2
  const [seen] = await Promise.all([
    clients[cell.caller]({ model: `all-${cell.upstream}/m`, stream: cell.stream }),
    driveAll(accounts, fault, before, calls),
  ])
  const { outcome, attempts } = await accounts.settle()
  if (fault.opened) expectInStream(seen.raised)
  else expectRaised(fault, cell, seen.raised)
  if (scripted) expect(bad.requests.length - before, 'upstream calls').toBe(calls)
  expect(attempts).toHaveLength(calls)
  const status = fault.opened ? 502 : statusOf(fault, cell)
  expect(outcome).toMatchObject({ status, aborted: false, steps: [], usage: { total: 0 } })
  expect(outcome.error).toMatchObject({ status: statusOf(fault, cell) })
}

async function driveAll(accounts: Accounts, { drive }: Fault, before: number, calls: number): Promise<void> {
  for (let call = 1; call <= calls; call++) await drive?.(accounts, before + call)
}

/** The faulty account answers anyway: no other account is called, and the reported usage is booked. */
export async function answersAnyway(
  accounts: Accounts,
  cells: Cells,
  fault: Pick<Fault, 'row' | 'title' | 'modes' | 'upstreams'> & { step: (cell: Cell) => Step; text?: string; ask?: Partial<Ask> },
): Promise<void> {
  const { bad, good, clients } = accounts
  for (const cell of pairs(fault)) {
    await cells.run(fault.row, `${fault.title}, ${nameOf(cell)}`, async () => {
      bad.script(fault.step(cell))
      const [before, spare] = [bad.requests.length, good.requests.length]
      const ask = { model: `two-${cell.upstream}/m`, stream: cell.stream, ...fault.ask }
      const seen = await clients[cell.caller](ask)
      const { outcome, attempts } = await accounts.settle()
      expect(seen.raised).toBeNull()
      if (fault.ask?.empty !== true) expect(seen.text).toBe(fault.text ?? FINE)
      expect([bad.requests.length - before, good.requests.length - spare]).toEqual([1, 0])
      expect(attempts.map(({ action }) => action)).toEqual(['returned'])
      expect(outcome).toMatchObject({ status: 200, aborted: false, usage: { inputTotal: 12, outputTotal: 7, estimated: false } })
    })
  }
}

/** After the first content: the dialect's error, no second call, 502, and delivered content is booked. */
export async function afterContent(
  accounts: Accounts,
  cells: Cells,
  fault: Pick<Fault, 'row' | 'title' | 'upstreams'> & { step: (cell: Cell) => Step },
) {
  const { bad, good, clients } = accounts
  for (const cell of pairs({ ...fault, modes: ['stream'] })) {
    await cells.run(fault.row, `${fault.title}, ${nameOf(cell)}, after content`, async () => {
      bad.script(fault.step(cell))
      const [before, spare] = [bad.requests.length, good.requests.length]
      const seen = await clients[cell.caller]({ model: `two-${cell.upstream}/m`, stream: true })
      const { outcome, attempts } = await accounts.settle()
      expect(seen.deltas).toBeGreaterThan(0)
      expectInStream(seen.raised)
      expect([bad.requests.length - before, good.requests.length - spare]).toEqual([1, 0])
      expect(attempts.map(({ action }) => action)).toEqual(['returned'])
      expect(outcome).toMatchObject({
        status: 502,
        aborted: false,
        steps: [{ status: 502, connectionId: attempts[0]?.candidate.connection.id }],
      })
      expect(attempts.map(labelOf)).toEqual([`two-${cell.upstream}.1`])
      expect(outcome.error?.message).toBeTruthy()
      expect(outcome.usage.outputTotal).toBeGreaterThan(0)
    })
  }
}

export function expectInStream(raised: Raised | null): void {
  expect(raised, 'the SDK must raise').not.toBeNull()
  expect(isConnectionError(raised!.name), `a frame, not ${raised?.name}: ${raised?.message}`).toBe(false)
  expect(raised?.status).toBeNull()
  expect(raised?.message).not.toBe('')
}

const CLASSES: Readonly<Record<number, string>> = { 400: 'BadRequestError', 409: 'ConflictError', 429: 'RateLimitError' }

export function expectRaised(fault: Fault, cell: Cell, raised: Raised | null): void {
  const status = statusOf(fault, cell)
  expect(raised, 'the SDK must raise').not.toBeNull()
  expect(raised).toMatchObject({ status })
  const own =
    cell.caller === 'generate_content' ? 'ApiError' : (CLASSES[status] ?? (status >= 500 ? 'InternalServerError' : null))
  if (own !== null) expect(raised?.classes).toContain(own)
  if (fault.code !== undefined && cell.caller !== 'generate_content') expect(raised?.code).toBe(fault.code)
  if (fault.retryAfter !== undefined && cell.caller !== 'generate_content') expect(raised?.retryAfter).toBe(fault.retryAfter)
  expect(raised?.message).not.toMatch(/sk-faulty|127\.0\.0\.1|\/home\/|node:/)
}

export function pairs(fault: Pick<Fault, 'modes' | 'upstreams' | 'callers'>): Cell[] {
  const modes = fault.modes ?? ['plain', 'stream']
  return (fault.callers ?? DIALECTS).flatMap((caller) =>
    (fault.upstreams ?? DIALECTS).flatMap((upstream) => modes.map((mode) => ({ caller, upstream, stream: mode === 'stream' }))),
  )
}

export const nameOf = ({ caller, upstream, stream }: Cell) => `${caller} → ${upstream} ${stream ? 'stream' : 'plain'}`

/** Returns frames of a reply in two parts: those before the first content, and the rest. */
export function framesOf(upstream: Dialect, text = FINE, chunk = 4): { head: string[]; content: string[]; all: string[] } {
  const all = RENDERERS[upstream].frames({ text, chunk })
  const first = all.findIndex((frame) => frame.includes(JSON.stringify(text.slice(0, chunk)).slice(1, -1)))
  return { head: all.slice(0, first), content: all.slice(first, first + 2), all }
}

function arm({ bad }: Accounts, fault: Fault, cell: Cell): boolean {
  if (fault.step === undefined) return false
  const step = fault.step(cell)
  bad.script(step, step)
  return true
}

function statusOf(fault: Fault, cell: Cell): number {
  return typeof fault.status === 'number' ? fault.status : fault.status(cell)
}
