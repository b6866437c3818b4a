// Sends the answer of an operation to the caller: the upstream's bytes, or the answer encoded after a hook changed it.

import type { OperationDriver, OperationReply } from '../../types/operations/operation.ts'
import type { OperationAnswer } from '../../types/operations/operations.ts'
import type { Awaitable, Frozen } from '../../types/request/canonical.ts'
import type { Result } from '../../types/request/result.ts'
import { codecContextOf } from '../call-state.ts'
import type { RequestState } from '../context.ts'
import type { ReplyWriter } from '../reply.ts'
import type { Runtime } from '../runtime.ts'

type AnswerResult = Extract<Result, { kind: 'answer' }>

export function sendAnswer(runtime: Runtime, ctx: RequestState, { reply }: AnswerResult, to: ReplyWriter): Awaitable<void> {
  ctx.facts ??= { content: true, contentBytes: 0, terminal: true, usage: reply.usage, finish: null, error: null }
  const { hooks } = ctx
  if (hooks.response === null || reply.checked || !hooks.applies('response', ctx)) return sendReply(runtime, ctx, reply, null, to)
  const answer = reply.answer()
  const changing = hooks.response(ctx, answer as never) as unknown as Awaitable<Frozen<OperationAnswer>>
  const send = (changed: Frozen<OperationAnswer>) => sendReply(runtime, ctx, reply, changed === answer ? null : changed, to)
  return changing instanceof Promise ? changing.then(send) : send(changing)
}

function sendReply(
  runtime: Runtime,
  ctx: RequestState,
  reply: OperationReply<OperationAnswer>,
  changed: Frozen<OperationAnswer> | null,
  to: ReplyWriter,
): Awaitable<void> {
  const { stream, wire } = reply
  if (stream !== undefined && changed === null) return sendStream(ctx, stream, to)
  const driver = runtime.operations.get(ctx.operation as never) as OperationDriver
  const { contentType, body } =
    wire !== undefined && changed === null
      ? wire
      : driver.encode((changed ?? reply.answer()) as never, ctx.request as never, codecContextOf(runtime, ctx))
  to.send(ctx, 200, ['content-type', contentType], body)
}

async function sendStream(
  ctx: RequestState,
  { contentType, source, usage }: NonNullable<OperationReply<OperationAnswer>['stream']>,
  to: ReplyWriter,
): Promise<void> {
  to.openBytes(ctx, contentType)
  const unbind = ctx.onStop((reason) => source.cancel(reason))
  const write = (chunk: Uint8Array | string): boolean => {
    to.write(chunk)
    return true
  }
  try {
    await source.pump({ write, drained: () => to.drained() })
  } finally {
    unbind()
    const reported = usage()
    if (ctx.facts !== null && reported !== null) ctx.facts.usage = reported
    if (ctx.facts !== null) ctx.facts.error = source.failure?.() ?? null
  }
  to.end()
}
