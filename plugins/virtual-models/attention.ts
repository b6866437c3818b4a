// The fact that a virtual model has no usable target.
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { CompiledModel } from './planning/compiled-model.ts'
import type { Knowledge } from './planning/model-facts.ts'
import type { VirtualModelService } from './service.ts'

export function targetFacts(
  models: VirtualModelService,
  compiled: (orgId: number | null, name: string) => CompiledModel | null,
  knowledge: Pick<Knowledge, 'accounts'>,
): AttentionFacts {
  return ({ orgId }) =>
    models
      .list(orgId)
      .filter(({ enabled }) => enabled)
      .flatMap(({ id, name }) => {
        const looked = (compiled(orgId, name)?.targets ?? []).map((target) => knowledge.accounts(orgId, target))
        if (looked.some(({ available }) => available.length > 0)) return []
        const ends = looked.flatMap(({ blocked }) => blocked.flatMap(({ until }) => until ?? []))
        return [
          {
            kind: 'no_usable_target',
            severity: 'critical' as const,
            subject: { kind: 'virtual_model', id: String(id), label: name },
            title: `No target of the virtual model ${name} can be used now.`,
            since: null,
            effect:
              ends.length === 0
                ? 'Its requests are refused.'
                : `Its requests are refused until ${new Date(Math.min(...ends)).toISOString()}.`,
            levers: [],
            link: `/routing/${encodeURIComponent(name)}`,
          },
        ]
      })
}
