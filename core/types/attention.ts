// Types of what needs an operator's attention: facts that plugins contribute, each with its effect and the calls that help.
import type { Awaitable, Json } from './request/canonical.ts'

/** A call of the control plane that an operator may make about a fact. */
export interface AttentionLever {
  /** For example `Disable it`. */
  readonly label: string
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** null: the call has no body. */
  readonly body: Json | null
}

export interface AttentionItem {
  /** For example `circuit_open`. */
  readonly kind: string
  /** `critical`: requests fail or money is not under control. `warning`: the gateway copes for now. */
  readonly severity: 'critical' | 'warning'
  /** A kind and a subject make one fact: a second one is dropped. */
  readonly subject: { readonly kind: string; readonly id: string; readonly label: string }
  /** A plain sentence without prompts, answers and credentials. */
  readonly title: string
  /** Epoch ms; null: unknown. */
  readonly since: number | null
  /** Its effect on requests or money; null: none yet. */
  readonly effect: string | null
  readonly levers: readonly AttentionLever[]
  /** Path of the dashboard's page about it; null: there is none. */
  readonly link: string | null
}

/** The organization and the rights of the reader. */
export interface AttentionScope {
  readonly orgId: number | null
  /** True: facts about the whole gateway are shown, too. */
  readonly system: boolean
}

export type AttentionFacts = (scope: AttentionScope) => Awaitable<readonly AttentionItem[]>

/** Collects what needs attention. It asks its contributors only when the list is read. */
export interface AttentionService {
  /**
   * Adds a source of facts; the newest active one of a name applies. Call the returned function on teardown. Facts come from memory or
   * from small queries, because a page asks for them every few seconds.
   */
  contribute(source: string, facts: AttentionFacts): () => void
  /** Returns the facts, the critical ones first, then the oldest first. A source that fails is itself a fact. Never rejects. */
  collect(scope: AttentionScope): Promise<readonly AttentionItem[]>
}
