// Provides sample requests and answers for a filter trial, in canonical form. The built-in ones cover each dialect; a JSON Lines file may
// replace them.
import { z } from 'zod'
import { headerBag } from '../../../core/http/headers.ts'
import { parsedBody } from '../../../core/json/wire-body.ts'
import { createSseSplitter } from '../../../core/stream/sse.ts'
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { CanonicalRequest } from '../../../core/types/request/canonical.ts'
import type { DialectDriver } from '../../../core/types/request/dialect.ts'
import type { StreamEvent } from '../../../core/types/request/stream.ts'
import { canonicalResponse, streamEvent } from '../../../plugins/wasm-filters/answer-schema.ts'
import { canonicalRequest } from '../../../plugins/wasm-filters/request-schema.ts'
import { dialects } from '../../node/ports.ts'
import { CONTRACT_REPLIES, contractContext } from '../../testing/contracts/dialect-contract.ts'
import { requestFor } from '../../testing/requests.ts'
import { RENDERERS } from '../../testing/scripted-upstream.ts'

export interface Recording {
  readonly name: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly request: CanonicalRequest
  readonly response?: CanonicalResponse
  /** Events of a streamed answer, grouped by network read. */
  readonly events?: readonly StreamEvent[][]
}

const full = z.strictObject({
  name: z.string().max(100).optional(),
  headers: z.record(z.string().toLowerCase(), z.string()).default({}),
  request: canonicalRequest,
  response: canonicalResponse.optional(),
  events: z.array(z.array(streamEvent)).optional(),
})

/** Returns one recording for each dialect and kind of answer. */
export function shippedRecordings(): Recording[] {
  return dialects.flatMap((driver) =>
    Object.keys(CONTRACT_REPLIES).map((reply) => ({
      name: `${driver.id}: ${reply}`,
      headers: {},
      request: requestOf(driver),
      response: responseOf(driver, reply),
      events: eventsOf(driver, reply),
    })),
  )
}

/**
 * Reads lines of canonical requests, or of `{ name?, headers?, request, response?, events? }`.
 * @throws Error that names the line.
 */
export function readRecordings(text: string): Recording[] {
  const recordings = text.split('\n').flatMap((line, index): Recording[] => {
    if (line.trim() === '') return []
    const value = parsed(line, index + 1)
    const given = isRequest(value) ? { request: value } : value
    const { data, error } = full.safeParse(given)
    if (error) throw new Error(`Line ${index + 1} is no recording: ${z.prettifyError(error)}`)
    const { name = `line ${index + 1}`, ...rest } = data
    return [{ name, ...rest }]
  })
  if (recordings.length === 0) throw new Error('There is no request in the file: a line of JSON for each is expected.')
  return recordings
}

function parsed(line: string, number: number): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new Error(`Line ${number} is no JSON: ${(error as Error).message}`)
  }
}

function isRequest(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'messages' in value
}

function requestOf(driver: DialectDriver): CanonicalRequest {
  const model = 'test/model'
  const { body = {} } = requestFor(driver.id, model, false)
  return driver.decodeRequest(bodyOf(body), headerBag([]), { model, stream: false, operation: 'chat' })
}

function responseOf(driver: DialectDriver, reply: string): CanonicalResponse {
  const body = RENDERERS[driver.id].json(CONTRACT_REPLIES[reply] ?? {})
  return driver.decodeResponse(bodyOf(body), contractContext(driver))
}

/** Each frame of the vendor counts as one network read. */
function eventsOf(driver: DialectDriver, reply: string): StreamEvent[][] {
  const decoder = driver.decodeStream(contractContext(driver))
  const batches: StreamEvent[][] = []
  let batch: StreamEvent[] = []
  const emit = (event: StreamEvent): void => void batch.push(structuredClone(event))
  const splitter = createSseSplitter()
  for (const frame of RENDERERS[driver.id].frames(CONTRACT_REPLIES[reply] ?? {})) {
    splitter.push(new TextEncoder().encode(frame), (one) => decoder.frame(one, emit))
    if (batch.length > 0) batches.push(batch)
    batch = []
  }
  decoder.end(emit)
  return batch.length > 0 ? [...batches, batch] : batches
}

function bodyOf(value: object) {
  return parsedBody(new TextEncoder().encode(JSON.stringify(value)))
}
