// Implements the service `attention`: sources of facts by name, asked together and sorted.
import { errorText } from './text/error-text.ts'
import { withTimeout } from './timing/with-timeout.ts'
import type { AttentionFacts, AttentionItem, AttentionScope, AttentionService } from './types/attention.ts'
import type { Clock, Logger } from './types/ports/ports.ts'

/** A source that takes longer counts as failed. */
const SOURCE_MS = 5000

export function attentionBoard({ clock, log }: { clock: Clock; log: Logger }): AttentionService {
  /** During a reload two instances of a plugin contribute under one name: the newest is last. */
  const sources = new Map<string, AttentionFacts[]>()

  const askedOf = async (source: string, scope: AttentionScope): Promise<readonly AttentionItem[]> => {
    const facts = sources.get(source)?.at(-1)
    if (facts === undefined) return []
    try {
      return await withTimeout(clock, SOURCE_MS, facts(scope))
    } catch (error) {
      log.warn('attention.unread', { source, error: errorText(error) })
      return [unread(source)]
    }
  }

  return {
    contribute(source, facts) {
      const layers = sources.get(source) ?? []
      sources.set(source, layers)
      layers.push(facts)
      return () => {
        const at = layers.indexOf(facts)
        if (at !== -1) layers.splice(at, 1)
      }
    },
    async collect(scope) {
      const found = await Promise.all([...sources.keys()].map((source) => askedOf(source, scope)))
      const byId = new Map<string, AttentionItem>()
      for (const item of found.flat()) {
        const id = attentionId(item)
        if (!byId.has(id)) byId.set(id, item)
      }
      return [...byId.values()].sort(byUrgency)
    },
  }
}

/** Stays the same while the fact holds. */
export function attentionId({ kind, subject }: Pick<AttentionItem, 'kind' | 'subject'>): string {
  return `${kind}:${subject.kind}:${subject.id}`
}

function byUrgency(a: AttentionItem, b: AttentionItem): number {
  if (a.severity !== b.severity) return a.severity === 'critical' ? -1 : 1
  const [since, other] = [a.since ?? Number.MAX_SAFE_INTEGER, b.since ?? Number.MAX_SAFE_INTEGER]
  return since - other || (attentionId(a) < attentionId(b) ? -1 : 1)
}

function unread(source: string): AttentionItem {
  return {
    kind: 'unread',
    severity: 'warning',
    subject: { kind: 'plugin', id: source, label: source },
    title: `The state of \`${source}\` could not be read.`,
    since: null,
    effect: 'This list may be incomplete; the log has the reason.',
    levers: [],
    link: null,
  }
}
