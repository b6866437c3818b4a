// Computes the recommendations of an organization, at most once in 15 minutes.
import { type FactSources, type Facts, factsOf, type Spend } from './facts.ts'
import { addFallback, demoteTarget } from './kinds/health.ts'
import { settingFindings } from './kinds/settings.ts'
import { switchModel } from './kinds/switch-model.ts'
import { budgetAtRisk, unusedKeys } from './kinds/upkeep.ts'
import type { Finding, Recommendation } from './service.ts'

const FRESH_MS = 15 * 60_000
const MAX_ORGS = 1000

const FINDERS: readonly ((facts: Facts) => Finding[])[] = [
  switchModel,
  settingFindings,
  demoteTarget,
  addFallback,
  unusedKeys,
  budgetAtRisk,
]

export interface Advice {
  /** Epoch ms. */
  readonly at: number
  readonly data: readonly Recommendation[]
  readonly spend: Spend | null
}

export class Advisor {
  readonly #sources: FactSources
  readonly #known = new Map<number | null, Promise<Advice>>()
  readonly #startedAt = new Map<number | null, number>()

  constructor(sources: FactSources) {
    this.#sources = sources
  }

  /** Callers that ask at the same time share one computation. */
  of(orgId: number | null, now: number): Promise<Advice> {
    const known = this.#known.get(orgId)
    if (known !== undefined && now - (this.#startedAt.get(orgId) ?? 0) < FRESH_MS) return known
    const advice = this.#computed(orgId, now)
    this.#known.delete(orgId)
    this.#known.set(orgId, advice)
    this.#startedAt.set(orgId, now)
    advice.catch(() => this.forget(orgId))
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_ORGS && oldest !== undefined) this.forget(oldest)
    return advice
  }

  /** The next call computes again, because an action changed the facts. */
  forget(orgId: number | null): void {
    this.#known.delete(orgId)
    this.#startedAt.delete(orgId)
  }

  async #computed(orgId: number | null, now: number): Promise<Advice> {
    const facts = await factsOf(this.#sources, orgId, now)
    const findings = FINDERS.flatMap((find) => find(facts))
    const data = await Promise.all(
      findings.map(async ({ subject, ...finding }) => ({
        id: await idOf(`${orgId ?? 0} ${finding.kind} ${subject}`),
        ...finding,
      })),
    )
    data.sort((a, b) => b.estMonthlyUsd - a.estMonthlyUsd || b.confidence - a.confidence || (a.id < b.id ? -1 : 1))
    return { at: now, data, spend: facts.spend }
  }
}

async function idOf(subject: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(subject)))
  return `rec_${[...hash.subarray(0, 10)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
