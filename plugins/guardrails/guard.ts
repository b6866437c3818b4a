// Runs the detectors in order: built-in ones first, then remote ones, which see the redacted text.
import { changedForCaller } from '../../core/calls/derived-answer.ts'
import { rootOf } from '../../core/records/root-request.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { Frozen } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import type { StreamEvent, StreamTransform } from '../../core/types/request/stream.ts'
import { blockBody, PLACE } from './block-body.ts'
import { driven, inspectTexts, type PlacedText } from './inspect-texts.ts'
import { Inspection } from './inspection.ts'
import { GuardedStream, restored } from './output-stream.ts'
import type { InjectionPolicy, Policy } from './policy.ts'
import { Redactor } from './redactor.ts'
import { askRemote, type InfoText } from './remote.ts'
import { HeldStream } from './remote-stream.ts'
import { Findings } from './rule.ts'
import type { Action, Detector, Direction, GuardrailService, LocalDetector, RemoteDetector } from './service.ts'
import { mapRequest, mapResponse, type Place, type Visit } from './texts.ts'

interface GuardInit {
  gateway: PluginGateway
  keys(): Services['keys'] | undefined
  caches(): Services['exactCache'] | undefined
  /** null: the gateway's own. */
  policy(orgId: number | null): Policy
  detectors: ReadonlyMap<string, Detector>
  counted(detector: string, action: Action | 'failed'): void
}

/** State of the caller's request, shared by its internal calls. */
interface Guarded {
  readonly findings: Findings
  readonly redactor: Redactor
  tightened: boolean
}

// Observes a streamed answer without holding anything back: the answer stays on the byte lane.
function watchedStream(inspection: Inspection): StreamTransform {
  const guarded = new GuardedStream(inspection, null)
  return {
    passive: true,
    event: (event) => guarded.event(event, unheard),
    flush: () => guarded.flush(unheard),
  }
}

function unheard(): void {}

// ms after which a long inspection yields to other requests.
const MAX_MS = 4
/** Also yields after this many steps, because a test's clock does not move. */
const MAX_STEPS = 32

export function workBudget(clock: Clock): () => boolean {
  let since = clock.monotonic()
  let steps = 0
  return () => {
    const now = clock.monotonic()
    if (++steps < MAX_STEPS && now - since < MAX_MS) return false
    since = now
    steps = 0
    return true
  }
}

export function guard({ gateway, keys, caches, policy: policies, detectors, counted }: GuardInit) {
  const { clock, log } = gateway
  const slot = gateway.slot<Guarded>()
  const held = gateway.slot<HeldStream>()

  const exempt = (ctx: RequestContext): boolean => keys()?.of(rootOf(ctx))?.guardrailsExempt === true
  /** A key of an organization can be exempt from that organization's policy, but not from the gateway's. */
  const policy = (ctx: RequestContext): Policy => {
    const { orgId } = ctx.principal
    const whole = policies(orgId)
    return orgId !== null && whole.enabled && exempt(ctx) ? policies(null) : whole
  }
  const isFree = (ctx: RequestContext): boolean => ctx.principal.orgId === null && exempt(ctx)

  const stateOf = (ctx: RequestContext): Guarded => {
    const root = rootOf(ctx)
    let state = slot.get(root)
    if (state === undefined) {
      // A failing detector let this content pass uninspected, so no cache may store it.
      const count: typeof counted = (detector, action) => {
        counted(detector, action)
        if (action === 'failed') caches()?.request(root, { noStore: true })
      }
      state = { findings: new Findings(root, count), redactor: new Redactor(policy(ctx).restore), tightened: false }
      slot.set(root, state)
    }
    return state
  }
  const staged = <R extends boolean>(
    ctx: RequestContext,
    direction: Direction,
    remote: R,
  ): (R extends true ? RemoteDetector : LocalDetector)[] =>
    (policy(ctx).enabled
      ? [...detectors.values()].filter((one) => (one.remote ?? false) === remote && one.stage.includes(direction))
      : []) as never
  const inspectionOf = (ctx: RequestContext, direction: Direction, searched = true): Inspection => {
    const { findings, redactor } = stateOf(ctx)
    const rules = searched ? policy(ctx).rules[direction] : []
    const local = !searched || detectors.size === 0 ? [] : staged(ctx, direction, false)
    // Model output is never restored.
    const used = direction === 'input' ? redactor : new Redactor(false)
    return new Inspection({ direction, rules, local, findings, redactor: used, log })
  }
  const injectionOf = (ctx: RequestContext): readonly InjectionPolicy[] =>
    slot.get(rootOf(ctx))?.tightened ? [policy(ctx).asked] : policy(ctx).injection

  /** Returns the replacement of each text; the same list when there is none. */
  const inspected = async (
    ctx: RequestContext,
    direction: Direction,
    texts: readonly PlacedText[],
  ): Promise<readonly string[]> => {
    const inspection = inspectionOf(ctx, direction)
    const injection = direction === 'input' ? injectionOf(ctx) : []
    const out = await driven(inspectTexts(texts, { inspection, direction, injection, due: workBudget(clock) }))
    const remote = staged(ctx, direction, true)
    if (remote.length === 0) return out
    const shown = out.map((text, index) => ({ text, info: infoOf(direction, (texts[index] as PlacedText).place) }))
    return askRemote(remote, shown, { clock, inspection, signal: ctx.signal })
  }

  /** Blocking rules read the rest of the body too. */
  const readWhole = (ctx: RequestContext): void | Promise<void> => {
    const rules = policy(ctx).rules.input.filter(({ action }) => action === 'block')
    const local = staged(ctx, 'input', false).filter(({ mode }) => mode === 'block')
    const injection = injectionOf(ctx).filter(({ action }) => action === 'block')
    if (ctx.rawBody === null || (rules.length === 0 && local.length === 0 && injection.length === 0)) return
    const { findings, redactor } = stateOf(ctx)
    const inspection = () => new Inspection({ direction: 'input', rules, local, findings, redactor, log })
    return driven(blockBody(ctx.rawBody, { inspection, injection, due: workBudget(clock) }))
  }

  const blocksInput = (ctx: RequestContext): boolean =>
    policy(ctx).rules.input.some(({ action }) => action === 'block') ||
    injectionOf(ctx).some(({ action }) => action === 'block') ||
    [...staged(ctx, 'input', false), ...staged(ctx, 'input', true)].some(({ mode }) => mode === 'block')

  const readsInput = (ctx: RequestContext): boolean => {
    const { enabled, rules, injection } = policy(ctx)
    const wanted = enabled && (rules.input.length > 0 || injection.length > 0 || detectors.size > 0)
    return (wanted && !isFree(ctx)) || (slot.get(ctx)?.tightened === true && !exempt(ctx))
  }
  const restoresOf = (ctx: RequestContext) => slot.get(rootOf(ctx))?.redactor.restores ?? null
  const answersCaller = (ctx: RequestContext): boolean => ctx.operation === 'chat' && rootOf(ctx).ingress !== null

  return {
    readsRequest: (ctx: RequestContext): boolean =>
      (ctx.operation === 'chat' || ctx.operation === 'count_tokens') && ctx.ingress !== null && readsInput(ctx),

    readsAnswer(ctx: RequestContext): boolean {
      if (!answersCaller(ctx)) return false
      const wanted = policy(ctx).rules.output.length > 0 || (detectors.size > 0 && staged(ctx, 'output', false).length > 0)
      // Restoring a part of an answer needs events, too.
      return (wanted && !isFree(ctx)) || restoresOf(ctx) !== null
    },

    readsBack: (ctx: RequestContext): boolean => ctx.operation === 'chat' && ctx.parent === null && restoresOf(ctx) !== null,

    /** Internal calls of a fusion or pipeline model were inspected already. Here only the redacted values are restored for the caller. */
    async call(ctx: RequestContext, next: () => Promise<Result>): Promise<Result> {
      const result = await next()
      const restores = restoresOf(ctx)
      if (restores === null) return result
      return changedForCaller(result, {
        stream: () => new GuardedStream(inspectionOf(ctx, 'output', false), restores),
        response: (response) => readBack(response, restores),
      })
    },

    asksAboutAnswer: (ctx: RequestContext): boolean =>
      detectors.size > 0 && answersCaller(ctx) && staged(ctx, 'output', true).length > 0 && !isFree(ctx),

    async request(ctx: RequestContext<'chat'>): Promise<void> {
      const request = ctx.request
      const texts: PlacedText[] = []
      mapRequest(request, collecting(texts))
      const { redactor } = stateOf(ctx)
      for (const { text } of texts) redactor.reserve(text)
      const out = await inspected(ctx, 'input', texts)
      let next = 0
      const { system, messages, ext, changed } = mapRequest(request, () => out[next++] as string)
      // A restored answer is only for this caller.
      if (redactor.restores !== null) caches()?.request(ctx, { bypass: true })
      if (changed) Object.assign(ctx.edit(), { system, messages, ext })
      await readWhole(ctx)
    },

    async response(ctx: RequestContext, response: Frozen<CanonicalResponse>): Promise<Frozen<CanonicalResponse>> {
      const texts: PlacedText[] = []
      mapResponse(response, collecting(texts))
      const out = isFree(ctx) ? texts.map(({ text }) => text) : await inspected(ctx, 'output', texts)
      let next = 0
      const clean = mapResponse(response, () => out[next++] as string)
      const restores = ctx.parent === null ? restoresOf(ctx) : null
      return restores === null ? clean : readBack(clean, restores)
    },

    stream(ctx: RequestContext): StreamTransform {
      const inspection = inspectionOf(ctx, 'output')
      // In a panel or a chain another model might read the restored values.
      const restores = ctx.parent === null ? restoresOf(ctx) : null
      const watches =
        restoresOf(ctx) === null &&
        policy(ctx).rules.output.every(({ action }) => action === 'log') &&
        staged(ctx, 'output', false).every(({ mode }) => mode === 'log')
      return watches ? watchedStream(inspection) : new GuardedStream(inspection, restores)
    },

    batch(ctx: RequestContext, events: StreamEvent[]): Promise<StreamEvent[]> {
      let stream = held.get(ctx)
      if (stream === undefined) {
        const use = { clock, inspection: inspectionOf(ctx, 'output'), signal: ctx.signal }
        stream = new HeldStream((texts: readonly InfoText[]) => askRemote(staged(ctx, 'output', true), texts, use))
        held.set(ctx, stream)
      }
      return stream.events(events)
    },

    async input(ctx: RequestContext, texts: readonly string[]): ReturnType<GuardrailService['input']> {
      if (!readsInput(ctx)) return texts
      return inspected(
        ctx,
        'input',
        texts.map((text) => ({ text, place: PLACE })),
      )
    },

    /** The same for the texts of an answer. */
    output: (ctx: RequestContext, texts: readonly string[]): Promise<readonly string[]> =>
      inspected(
        ctx,
        'output',
        texts.map((text) => ({ text, place: { ...PLACE, role: 'assistant' } as Place })),
      ),

    /** Notes that tokens were not read. @throws GatewayError 400 naming the member, when the policy refuses them. */
    tokens(ctx: RequestContext, param: string): void {
      const { findings } = stateOf(ctx)
      const mode = policy(ctx).tokens
      if (mode === 'log' || (mode === 'auto' && !blocksInput(ctx))) return findings.add('tokens', 'unread', 'log', 'input')
      findings.refuseUnread(param)
    },

    readsInput,
    readsOutput: (ctx: RequestContext): boolean =>
      (policy(ctx).rules.output.length > 0 || [...staged(ctx, 'output', false), ...staged(ctx, 'output', true)].length > 0) &&
      !isFree(ctx),
    readWhole,

    tighten(ctx: RequestContext): void {
      stateOf(ctx).tightened = true
    },

    /** For cache keys: the answer depends on the rules. */
    version: (ctx: RequestContext): string | null => {
      const { enabled, version } = policy(ctx)
      return enabled ? JSON.stringify([exempt(ctx), [...detectors.keys()].sort(), version]) : null
    },
  }
}

function collecting(texts: PlacedText[]): Visit {
  return (text, place) => {
    texts.push({ text, place })
    return text
  }
}

/** Thoughts go back to their vendor unchanged. */
function readBack(response: Frozen<CanonicalResponse>, restores: ReadonlyMap<string, string>): Frozen<CanonicalResponse> {
  return mapResponse(response, (text, { place }) => (place === 'reasoning' ? text : restored(text, restores)))
}

function infoOf(direction: Direction, { role, place }: Place) {
  return { direction, role, place }
}
