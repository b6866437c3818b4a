// One cell of the operations' matrix: a codec, and a vendor that answers or fails in one way. What the caller got is compared with what
// the vendor sent; the class is the observed one.
import { expect } from 'vitest'
import { operationReply } from '../../../adapters/testing/operations/vendor.ts'
import type { RecordedRequest, Step } from '../../../adapters/testing/script.ts'
import type { Outcome } from '../cell.ts'
import type { OperationNote } from './notes.ts'
import { type Members, namedBy, OPERATION_CASES, type OperationCase } from './requests.ts'
import { checkCarried, isSame } from './vendor-request.ts'
import { type CodecCase, IDLE_MS, keyOf, type World } from './world.ts'

export const COLUMNS = ['success', '400', '401', '429', '500', 'timeout', 'cut', 'malformed'] as const
export type Column = (typeof COLUMNS)[number]

export interface OperationOutcome extends Outcome {
  /** The caller's status. */
  status: number
  /** True: the gateway tried the next connection. */
  next: boolean
}

interface Seen {
  status: number
  type: string
  warnings: string[]
  /** Null: the connection broke before the end of the body. */
  bytes: Buffer | null
}

const ANSWER: Step = { kind: 'choose', choose: operationReply }
const REASON = 'the vendor says why'

/** Each step plays for every call, so that the caller gets the failure of the last connection. */
const STEPS: Readonly<Record<Column, Step>> = {
  success: ANSWER,
  '400': { kind: 'fail', status: 400, message: REASON },
  '401': { kind: 'fail', status: 401, message: REASON },
  '429': { kind: 'fail', status: 429, message: REASON },
  '500': { kind: 'fail', status: 500, message: REASON },
  timeout: { kind: 'hang' },
  cut: { kind: 'choose', choose: (request) => halfOf(operationReply(request)) },
  malformed: { kind: 'raw', status: 200, body: '{"data":[{"embedding":[0.1,' },
}

const FAILED_BY: Readonly<Partial<Record<Column, OperationNote>>> = {
  '401': 'credential',
  timeout: 'silence',
  cut: 'cut',
  malformed: 'malformed',
}

export async function operationCell(world: World, of: CodecCase, column: Column): Promise<OperationOutcome> {
  const asked = OPERATION_CASES[of.operation]
  const { vendor, t } = world
  vendor.requests.length = 0
  vendor.script(STEPS[column])
  const settled = t.settled.length
  const seen = await (column === 'timeout' ? untilSilence(world, send(world, of, asked)) : send(world, of, asked))
  await t.untilSettled(settled + 1)
  expect(t.settled, 'the request settles once').toHaveLength(settled + 1)
  expect(vendor.requests.length, 'the vendor was called').toBeGreaterThan(0)
  const next = vendor.requests.some((request) => carries(request, keyOf(of.provider, 'second')))
  const result = column === 'success' ? succeeded(world, asked, seen) : failed(column, seen)
  return { ...result, status: seen.status, next }
}

async function send({ url }: World, { model }: CodecCase, asked: OperationCase): Promise<Seen> {
  const response = await fetch(`${url}${asked.path}`, {
    method: 'POST',
    ...(asked.file === undefined
      ? { body: JSON.stringify({ ...namedBy(asked, model), ...asked.members }), headers: { 'content-type': 'application/json' } }
      : { body: formOf(model, asked.members, asked.file) }),
  })
  const { status, headers } = response
  return {
    status,
    type: headers.get('content-type') ?? '',
    warnings: headers.get('x-gateway-warnings')?.split(/,\s*/) ?? [],
    bytes: await response.arrayBuffer().then(Buffer.from, () => null),
  }
}

function formOf(model: string, members: Members, { field, content }: NonNullable<OperationCase['file']>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries({ model, ...members })) form.set(name, String(value))
  form.set(field, new Blob([content]), 'recording.mp3')
  return form
}

/** Advances the clock for each call that the silent vendor got. */
async function untilSilence({ vendor, clock }: World, sending: Promise<Seen>): Promise<Seen> {
  let over = false
  const seen = sending.finally(() => {
    over = true
  })
  for (let calls = 0; !over; await new Promise((resolve) => setImmediate(resolve))) {
    if (vendor.requests.length === calls) continue
    calls = vendor.requests.length
    await clock.advance(IDLE_MS + 2000)
  }
  return seen
}

function succeeded({ vendor }: World, asked: OperationCase, { status, type, warnings, bytes }: Seen): Outcome {
  expect(status, bytes?.toString()).toBe(200)
  const answer = bytes as Buffer
  asked.check({ json: type.includes('json') ? (JSON.parse(answer.toString()) as Members) : null, bytes: answer, type })
  checkCarried(vendor.requests, asked, warnings)
  if (warnings.length > 0) return { class: 'warned', detail: warnings.sort() }
  const notes: OperationNote[] = []
  if (!isSame(vendor.requests, asked)) notes.push('request')
  if (!answer.equals(lastAnswer(vendor.requests))) notes.push('answer')
  return notes.length === 0 ? { class: 'lossless', detail: [] } : { class: 'converted', detail: notes }
}

function lastAnswer(requests: readonly RecordedRequest[]): Buffer {
  const step = operationReply(requests.at(-1) as RecordedRequest)
  return step.kind === 'raw' ? Buffer.from(step.body as string) : Buffer.alloc(0)
}

/** Lossless: the vendor's status and reason reached the caller. */
function failed(column: Column, { status, bytes }: Seen): Outcome {
  if (status === 200) {
    expect(bytes, 'a cut answer never looks complete').toBeNull()
    return { class: 'converted', detail: ['cut_audio' satisfies OperationNote] }
  }
  const text = (bytes as Buffer).toString()
  const { error } = JSON.parse(text) as { error: { message: string; type: string } }
  expect(error).toMatchObject({ message: expect.stringMatching(/./), type: expect.stringMatching(/./) })
  expect(text).not.toMatch(/sk-[a-z-]+-(?:first|second)/)
  if (String(status) === column && error.message.includes(REASON)) return { class: 'lossless', detail: [] }
  return { class: 'converted', detail: [FAILED_BY[column] ?? 'no rule'] }
}

function halfOf(step: Step): Step {
  if (step.kind !== 'raw') throw new Error('An answer that is cut must be a whole one.')
  return { ...step, cut: { after: Math.floor(step.body.length / 2), how: 'fin' } }
}

function carries({ headers, path }: RecordedRequest, key: string): boolean {
  return JSON.stringify([headers, path]).includes(key)
}
