// `fusion`: a panel of models answers in parallel, and a judge combines the answers into one. With tools only the judge answers.
import { addedUsage, asStream, withUsage } from '../../../core/calls/derived-answer.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { noUsage } from '../../../core/models/token-estimate.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Clock } from '../../../core/types/ports/ports.ts'
import type { CanonicalResponse, Usage } from '../../../core/types/request/answer.ts'
import type { CanonicalRequest, Frozen } from '../../../core/types/request/canonical.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Result } from '../../../core/types/request/result.ts'
import { type CompiledTarget, type ProviderId, plainTarget } from '../planning/compiled-model.ts'
import type { Route } from '../planning/planner.ts'
import { answeredBy } from './answered-by.ts'
import { draftRequest, judgeRequest, offersTools, textOf } from './conversation.ts'

interface PanelAnswer {
  readonly target: CompiledTarget
  readonly response: Frozen<CanonicalResponse>
  readonly result: Result
  readonly text: string
}

// Runs several calls in parallel: waits for enough answers, a little longer for the others, and never beyond a fixed end.
interface PanelRules {
  /** After this number of answers, others have only `graceMs` left. */
  readonly quorum: number
  readonly graceMs: number
  readonly timeoutMs: number
}

interface PanelOutcome<T> {
  /** In the order of the calls. */
  readonly answers: readonly T[]
  /** In order of arrival; `call`: its index among the calls. */
  readonly failures: readonly { readonly call: number; readonly error: unknown }[]
}

/** Never rejects. Calls that miss the deadline are aborted. */
function gathered<T>(
  calls: readonly ((signal: AbortSignal) => Promise<T>)[],
  rules: PanelRules,
  clock: Clock,
): Promise<PanelOutcome<T>> {
  const quorum = Math.min(Math.max(1, rules.quorum), calls.length)
  return new Promise((resolve) => {
    const answers = new Map<number, T>()
    const failures: { call: number; error: unknown }[] = []
    const controllers = calls.map(() => new AbortController())
    let open = true
    let grace: { cancel(): void } | null = null
    const finish = (): void => {
      if (!open) return
      open = false
      end.cancel()
      grace?.cancel()
      for (const controller of controllers) controller.abort()
      resolve({ answers: calls.flatMap((_call, index) => (answers.has(index) ? [answers.get(index) as T] : [])), failures })
    }
    const end = clock.timer(rules.timeoutMs, finish)
    const heard = (): void => {
      if (answers.size + failures.length === calls.length) finish()
      else if (answers.size >= quorum && open) grace ??= clock.timer(rules.graceMs, finish)
    }
    calls.forEach((call, index) => {
      call((controllers[index] as AbortController).signal).then(
        (answer) => {
          if (!open) return
          answers.set(index, answer)
          heard()
        },
        (error) => {
          if (!open) return
          failures.push({ call: index, error })
          heard()
        },
      )
    })
  })
}

export async function fusion(
  gateway: Pick<PluginGateway, 'invoke' | 'clock'>,
  providerId: ProviderId,
  ctx: RequestContext<'chat'>,
  { compiled, survivors }: Route,
): Promise<Result> {
  const request = ctx.request
  const { config } = compiled
  const named = config.judge === null ? null : judgeOf(config.judge, providerId)
  const call = (asked: CanonicalRequest, target: CompiledTarget, role: 'panel' | 'judge', signal?: AbortSignal) =>
    gateway.invoke(asked, { operation: 'chat', source: 'fusion', parent: ctx, target, role, ...(signal ? { signal } : {}) })
  if (named !== null && offersTools(request))
    return answeredBy(ctx, named, await call(request as CanonicalRequest, named, 'judge'))
  const { answers, failures } = await gathered(
    survivors.map(
      ({ target }) =>
        async (signal: AbortSignal) =>
          answerOf(target, await call(draftRequest(request, target), target, 'panel', signal)),
    ),
    { quorum: config.minPanel, graceMs: config.stragglerGraceMs, timeoutMs: config.panelTimeoutMs },
    gateway.clock,
  )
  // After a disconnect or the deadline, no answer is needed.
  if (ctx.signal.aborted) throw GatewayError.from(ctx.signal.reason)
  const [first, ...others] = answers
  if (first === undefined) {
    const last = failures.at(-1)
    throw GatewayError.unavailable(
      'No target of this virtual model gave an answer.',
      last === undefined ? {} : { cause: last.error },
    )
  }
  const shaped = ({ target }: PanelAnswer, result: Result) => answeredBy(ctx, target, ctx.stream ? asStream(result) : result)
  if (others.length === 0) return shaped(first, first.result)
  // The first available target: an unavailable or just failed one would not answer as the judge either.
  const able = survivors.filter((_, index) => !failures.some(({ call }) => call === index))
  const judge = named ?? able[0]?.target ?? first.target
  try {
    const asked = judgeRequest(
      request,
      judge,
      answers.map(({ text }) => text),
    )
    return answeredBy(ctx, judge, withUsage(await call(asked, judge, 'judge'), sumOf(answers)))
  } catch (thrown) {
    if (ctx.signal.aborted) throw thrown
    const longest = answers.reduce((most, answer) => (answer.text.length > most.text.length ? answer : most))
    return shaped(longest, withUsage(longest.result, sumOf(answers.filter((answer) => answer !== longest))))
  }
}

function judgeOf(id: string, providerId: ProviderId): CompiledTarget {
  const slash = id.indexOf('/')
  return plainTarget(providerId(id.slice(0, slash)), id.slice(slash + 1))
}

/** @throws GatewayError 502 for an answer without text. */
function answerOf(target: CompiledTarget, result: Result): PanelAnswer {
  const text = result.kind === 'full' ? textOf(result.response) : ''
  if (result.kind !== 'full' || text === '') throw GatewayError.protocol('The target answered without a text.')
  return { target, response: result.response, result, text }
}

function sumOf(answers: readonly PanelAnswer[]): Usage {
  return answers.reduce((sum, { response }) => addedUsage(sum, response.usage as Usage), noUsage())
}
