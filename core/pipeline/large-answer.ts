// Reads and writes a large whole answer in several turns of the event loop, so that other requests continue.
import { BuiltBody } from '../json/built-body.ts'
import { writeInTurns } from '../json/write-in-turns.ts'
import { isReported } from '../models/token-estimate.ts'
import { byteLength } from '../text/bytes.ts'
import { textPieces } from '../text/text-pieces.ts'
import type { Turns } from '../timing/yield-queue.ts'
import type { CanonicalResponse, Usage } from '../types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../types/request/canonical.ts'
import type { WireBody } from '../types/request/dialect.ts'
import type { Result } from '../types/request/result.ts'
import type { StreamFacts } from '../types/request/stream.ts'
import { answerName } from './answer-name.ts'
import { codecContextOf } from './call-state.ts'
import type { RequestState } from './context.ts'
import { driver, type Runtime } from './runtime.ts'
import type { UpstreamCall } from './upstream-call.ts'
import { answerFacts, ByteAnswer, contentTexts, replaySource } from './whole-answer.ts'

/** Takes a few milliseconds. */
const STEP_CHARS = 4 * 1024 * 1024

/** @throws the error that the answer contains, or GatewayError when it cannot be decoded. */
export async function largeResult({ runtime, ctx, codec, driver, byteLane }: UpstreamCall, body: WireBody): Promise<Result> {
  const { turns } = runtime
  ctx.answerBytes = body.bytes.length
  if (byteLane && !ctx.stream) {
    const { content, usage, finish, error } = driver.inspectResponse(body, codec)
    if (error !== null) throw error
    await turns.next()
    const answer = new ByteAnswer(body, driver, codec)
    ctx.facts =
      ctx.operation === 'chat' && !isReported(usage)
        ? await factsOf(answer.response, turns)
        : { content, contentBytes: 0, terminal: true, usage, finish, error: null }
    return answer
  }
  const response = driver.decodeResponse(body, codec)
  await turns.next()
  const facts = await factsOf(response, turns)
  if (ctx.stream) return { kind: 'stream', source: replaySource(response, facts, turns) }
  ctx.facts = facts
  return { kind: 'full', response }
}

/** Returns the answer as this caller gets it; null: it is written in one turn. */
export async function largeBytes(
  runtime: Runtime,
  ctx: RequestState,
  { response, wire }: Extract<Result, { kind: 'full' }>,
): Promise<Uint8Array | null> {
  const { dialect } = ctx
  const { modelPlaces, buildResponse } = driver(runtime, dialect)
  const name = answerName(runtime, ctx)
  if (wire !== undefined && wire.dialect === dialect) {
    const { body } = wire
    if (!(body instanceof BuiltBody)) return null
    const own = rewrittenMembers(ctx, body.json())
    if (own === null) return null
    const members: Record<string, Json> = { ...own }
    const place = modelPlaces?.whole
    if (name !== null && place !== undefined && typeof body.get(place) === 'string') members[place] = name
    return body.written(runtime.turns, members)
  }
  if (buildResponse === undefined) return null
  const named = name === null ? response : { ...response, model: name }
  const value = buildResponse(named, codecContextOf(runtime, ctx)) as Record<string, Json>
  await runtime.turns.next()
  const own = rewrittenMembers(ctx, value)
  return own === null ? null : writeInTurns({ ...value, ...own }, runtime.turns)
}

function rewrittenMembers({ rewriter, answerBytes }: RequestState, value: Frozen<JsonObject>): Readonly<JsonObject> | null {
  if (rewriter === null) return {}
  return rewriter.large?.(value, answerBytes) ?? null
}

async function factsOf(response: Frozen<CanonicalResponse>, turns: Turns): Promise<StreamFacts> {
  if (isReported(response.usage as Usage)) return answerFacts(response)
  let bytes = 0
  let step = 0
  for (const text of contentTexts(response)) {
    for (const piece of textPieces(text)) {
      bytes += byteLength(piece)
      step += piece.length
      if (step < STEP_CHARS) continue
      step = 0
      await turns.next()
    }
  }
  return answerFacts(response, bytes)
}
