// Scores two answers that only a model can compare: by the judge when one is set, by embeddings when those are set.
import { REPLAY_SOURCE } from '../../../core/records/replays.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { CanonicalRequest } from '../../../core/types/request/canonical.ts'
import type { Target } from '../../../core/types/request/context.ts'
import type { ReplayCalls } from '../calls.ts'
import type { Answer, Payload } from '../sample.ts'
import { judgeRequest, pointsOf, verdictIn } from './judge.ts'
import { cosine, type Scored } from './score.ts'

/** UTF-16 units of each answer that are embedded. */
const MAX_EMBEDDED = 8000
const RUNS = 2

export interface ScorerSources {
  readonly gateway: PluginGateway
  readonly calls: ReplayCalls
  /** Returns a number in [0, 1). */
  random(): number
  /** `provider/model`; null: none. */
  judgeModel(): string | null
}

export interface Scorer {
  /** An upper limit of the cost, nano-USD. */
  costOf(orgId: number | null, payload: Payload, other: Answer): number
  /** `scored` is null when the judge or the embedder failed. */
  score(
    orgId: number | null,
    payload: Payload,
    other: Answer,
    signal: AbortSignal,
  ): Promise<{ readonly scored: Scored | null; readonly costNano: number }>
}

export function scorer({ gateway, calls, random, judgeModel }: ScorerSources): Scorer {
  const embeddings = gateway.optional('embeddings')
  const estimates = gateway.use('estimates')
  const { providerId } = gateway.use('configuration')

  function judge(): Target | null {
    const name = judgeModel()
    const slash = name?.indexOf('/') ?? -1
    if (name === null || slash <= 0 || slash === name.length - 1) return null
    return { provider: providerId(name.slice(0, slash)), model: name.slice(slash + 1), connectionId: null, weight: 1 }
  }

  /** Two runs with the answers exchanged; a draw says which comes first. */
  async function judged(by: Target, orgId: number | null, payload: Payload, other: Answer, signal: AbortSignal) {
    let costNano = 0
    let points = 0
    let challengerFirst = random() < 0.5
    for (let run = 0; run < RUNS; run++) {
      const request = judgeRequest(nameOf(by), payload, other, challengerFirst)
      const reply = await calls.ask(orgId, by, request, signal)
      costNano += reply.costNano
      const verdict = reply.answer === null ? null : verdictIn(reply.answer.text)
      // Half a judgement has the bias that the second run takes away.
      if (verdict === null) return { scored: null, costNano }
      points += pointsOf(verdict, challengerFirst)
      challengerFirst = !challengerFirst
    }
    return { scored: { score: points / RUNS, method: 'judge' as const }, costNano }
  }

  async function embedded(orgId: number | null, payload: Payload, other: Answer) {
    const found = await embeddings()?.embed(orgId, REPLAY_SOURCE, textsOf(payload, other))
    const [a, b] = found?.vectors ?? []
    const scored = a === undefined || b === undefined ? null : { score: cosine(a, b), method: 'embedding' as const }
    return { scored, costNano: found?.costNano ?? 0 }
  }

  return {
    costOf(orgId, payload, other) {
      const by = judge()
      if (by !== null) return RUNS * estimates.ownCall(orgId, by, judgeRequest(nameOf(by), payload, other, true))
      const model = embeddings()?.model(orgId) ?? null
      return model === null ? 0 : estimates.ownCall(orgId, model, embeddingRequest(textsOf(payload, other)))
    },
    async score(orgId, payload, other, signal) {
      const by = judge()
      return by === null ? embedded(orgId, payload, other) : judged(by, orgId, payload, other, signal)
    },
  }
}

function nameOf({ provider, model }: Target): string {
  return `${provider}/${model}`
}

function textsOf({ answer }: Payload, other: Answer): readonly string[] {
  return [answer.text, other.text].map((text) => text.slice(0, MAX_EMBEDDED))
}

/** For the estimate of a call that has a prompt and no answer. */
function embeddingRequest(texts: readonly string[]): CanonicalRequest {
  return {
    model: '',
    stream: false,
    source: 'chat',
    system: [],
    messages: texts.map((text) => ({ role: 'user' as const, parts: [{ t: 'text' as const, text }] })),
    tools: [],
    maxTokens: 0,
    sampling: {},
    headers: {},
    ext: {},
  }
}
