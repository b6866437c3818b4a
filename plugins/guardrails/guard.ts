// Runs the detectors in order: built-in ones first, then remote ones, which see the redacted text.
import { changedForCaller } from '../../core/calls/derived-answer.ts'
import { rootOf } from '../../core/records/root-request.ts'
import { decodeUtf8 } from '../../core/text/bytes.ts'
import type { CanonicalResponse } from '../../core/types/answer.ts'
import type { Frozen } from '../../core/types/canonical.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { PluginGateway, Services } from '../../core/types/plugin.ts'
import type { Clock } from '../../core/types/ports.ts'
import type { Result } from '../../core/types/result.ts'
import type { StreamEvent, StreamTransform } from '../../core/types/stream.ts'
import { bodyTexts } from './body-texts.ts'
import { driven, inspectTexts, type PlacedText } from './inspect-texts.ts'
import { Inspection } from './inspection.ts'
import { GuardedStream, restored } from './output-stream.ts'
import { type InjectionPolicy, injectionFacts, type Policy } from './policy.ts'
import { Redactor } from './redactor.ts'
import { askRemote, type InfoText } from './remote.ts'
import { HeldStream } from './remote-stream.ts'
import { Findings } from './rule.ts'
import type { Action, Detector, Direction, GuardrailService, LocalDetector, RemoteDetector } from './service.ts'
import type { Settings } from './settings.ts'
import { mapRequest, mapResponse, type Place, type Visit } from './texts.ts'

interface GuardInit {
  gateway: PluginGateway
  keys(): Services['keys'] | undefined
  caches(): Services['exactCache'] | undefined
  policy(): Policy
  settings(): Settings
  detectors: ReadonlyMap<string, Detector>
  counted(detector: string, action: Action | 'failed'): void
}

/** State of the caller's request, shared by its internal calls. */
interface Guarded {
  readonly findings: Findings
  readonly redactor: Redactor
  tightened: boolean
}

// Reads the body of a request for rules that block. It changes nothing; a finding refuses the request.
interface Reading {
  /** Returns an inspection with only the blocking rules; one per reading, because it counts hits. */
  inspection(): Inspection
  readonly injection: InjectionPolicy | null
  readonly due: () => boolean
}

const PLACE: Place = { role: 'user', place: 'text', lead: '' }

/** @throws GatewayError with a detector's decision. */
function* blockBody(raw: Uint8Array, { inspection, injection, due }: Reading): Generator<void, void> {
  const { texts, joined } = bodyTexts(decodeUtf8(raw, raw[0] === 0xef ? 3 : 0))
  yield* inspectTexts(
    texts.map((text) => ({ text, place: PLACE })),
    { inspection: inspection(), direction: 'input', injection: null, due },
  )
  const parts = joined.map(({ text, role }) => ({
    text,
    place: role === 'user' ? PLACE : ({ ...PLACE, role: 'system' } as Place),
  }))
  yield* inspectTexts(parts, { inspection: inspection(), direction: 'input', injection, due })
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

export function guard({ gateway, keys, caches, policy, settings, detectors, counted }: GuardInit) {
  const { clock, log } = gateway
  const slot = gateway.slot<Guarded>()
  const held = gateway.slot<HeldStream>()

  const stateOf = (ctx: RequestContext): Guarded => {
    const root = rootOf(ctx)
    let state = slot.get(root)
    if (state === undefined) {
      // A failing detector let this content pass uninspected, so no cache may store it.
      const count: typeof counted = (detector, action) => {
        counted(detector, action)
        if (action === 'failed') caches()?.request(root, { noStore: true })
      }
      state = { findings: new Findings(root, count), redactor: new Redactor(policy().restore), tightened: false }
      slot.set(root, state)
    }
    return state
  }
  const exempt = (ctx: RequestContext): boolean => keys()?.of(rootOf(ctx))?.guardrailsExempt === true
  const staged = <R extends boolean>(direction: Direction, remote: R): (R extends true ? RemoteDetector : LocalDetector)[] =>
    (policy().enabled
      ? [...detectors.values()].filter((one) => (one.remote ?? false) === remote && one.stage.includes(direction))
      : []) as never
  const inspectionOf = (ctx: RequestContext, direction: Direction, searched = true): Inspection => {
    const { findings, redactor } = stateOf(ctx)
    const rules = searched ? policy().rules[direction] : []
    const local = !searched || detectors.size === 0 ? [] : staged(direction, false)
    // Model output is never restored.
    const used = direction === 'input' ? redactor : new Redactor(false)
    return new Inspection({ direction, rules, local, findings, redactor: used, log })
  }
  const injectionOf = (ctx: RequestContext): InjectionPolicy | null =>
    slot.get(rootOf(ctx))?.tightened ? { ...injectionFacts(settings()), action: 'block' } : policy().injection

  /** Returns the replacement of each text; the same list when there is none. */
  const inspected = async (
    ctx: RequestContext,
    direction: Direction,
    texts: readonly PlacedText[],
  ): Promise<readonly string[]> => {
    const inspection = inspectionOf(ctx, direction)
    const injection = direction === 'input' ? injectionOf(ctx) : null
    const out = await driven(inspectTexts(texts, { inspection, direction, injection, due: workBudget(clock) }))
    const remote = staged(direction, true)
    if (remote.length === 0) return out
    const shown = out.map((text, index) => ({ text, info: infoOf(direction, (texts[index] as PlacedText).place) }))
    return askRemote(remote, shown, { clock, inspection, signal: ctx.signal })
  }

  /** Blocking rules read the rest of the body too. */
  const readWhole = (ctx: RequestContext): void | Promise<void> => {
    const rules = policy().rules.input.filter(({ action }) => action === 'block')
    const local = staged('input', false).filter(({ mode }) => mode === 'block')
    const asked = injectionOf(ctx)
    const injection = asked?.action === 'block' ? asked : null
    if (ctx.rawBody === null || (rules.length === 0 && local.length === 0 && injection === null)) return
    const { findings, redactor } = stateOf(ctx)
    const inspection = () => new Inspection({ direction: 'input', rules, local, findings, redactor, log })
    return driven(blockBody(ctx.rawBody, { inspection, injection, due: workBudget(clock) }))
  }

  const blocksInput = (ctx: RequestContext): boolean =>
    policy().rules.input.some(({ action }) => action === 'block') ||
    injectionOf(ctx)?.action === 'block' ||
    [...staged('input', false), ...staged('input', true)].some(({ mode }) => mode === 'block')

  const readsInput = (ctx: RequestContext): boolean => {
    const { enabled, rules, injection } = policy()
    const wanted = enabled && (rules.input.length > 0 || injection !== null || detectors.size > 0)
    return (wanted || slot.get(ctx)?.tightened === true) && !exempt(ctx)
  }
  const restoresOf = (ctx: RequestContext) => slot.get(rootOf(ctx))?.redactor.restores ?? null
  const answersCaller = (ctx: RequestContext): boolean => ctx.operation === 'chat' && rootOf(ctx).ingress !== null

  return {
    readsRequest: (ctx: RequestContext): boolean =>
      (ctx.operation === 'chat' || ctx.operation === 'count_tokens') && ctx.ingress !== null && readsInput(ctx),

    readsAnswer(ctx: RequestContext): boolean {
      if (!answersCaller(ctx)) return false
      const wanted = policy().rules.output.length > 0 || (detectors.size > 0 && staged('output', false).length > 0)
      // Restoring a part of an answer needs events, too.
      return (wanted && !exempt(ctx)) || restoresOf(ctx) !== null
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
      detectors.size > 0 && answersCaller(ctx) && staged('output', true).length > 0 && !exempt(ctx),

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
      const out = exempt(ctx) ? texts.map(({ text }) => text) : await inspected(ctx, 'output', texts)
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
        policy().rules.output.every(({ action }) => action === 'log') &&
        staged('output', false).every(({ mode }) => mode === 'log')
      return watches ? watchedStream(inspection) : new GuardedStream(inspection, restores)
    },

    batch(ctx: RequestContext, events: StreamEvent[]): Promise<StreamEvent[]> {
      let stream = held.get(ctx)
      if (stream === undefined) {
        const use = { clock, inspection: inspectionOf(ctx, 'output'), signal: ctx.signal }
        stream = new HeldStream((texts: readonly InfoText[]) => askRemote(staged('output', true), texts, use))
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
      const mode = settings()['guardrails.tokens.mode']
      if (mode === 'log' || (mode === 'auto' && !blocksInput(ctx))) return findings.add('tokens', 'unread', 'log', 'input')
      findings.refuseUnread(param)
    },

    readsInput,
    readsOutput: (ctx: RequestContext): boolean =>
      (policy().rules.output.length > 0 || [...staged('output', false), ...staged('output', true)].length > 0) && !exempt(ctx),
    readWhole,

    tighten(ctx: RequestContext): void {
      stateOf(ctx).tightened = true
    },

    /** For cache keys: the answer depends on the rules. */
    version: (ctx: RequestContext): string | null => {
      const { enabled } = policy()
      const names = enabled ? [...detectors.keys()].sort() : []
      return enabled ? JSON.stringify([exempt(ctx), names, settings()]) : null
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
