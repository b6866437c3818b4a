// Budgets in memory: after changes of single rows they equal a directory that was made of all rows.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RequestContext } from '../../../core/types/request/context.ts'
import { BudgetDirectory, type Entities } from '../../../plugins/budgets/directory.ts'
import { type Budget, SCOPES } from '../../../plugins/budgets/service.ts'

const NAMES = ['x', 'y']
const IDS = [1, 2]
const ORGS = [null, 1]

/** Keys and virtual models `x` and `y` with the ids 1 and 2. */
const entities: Entities = {
  keys: {
    get: () => null,
    labelled: (_, label) => ({ id: NAMES.indexOf(label) + 1 }) as ReturnType<Entities['keys']['labelled']>,
  },
  virtualModels: () => ({
    get: () => null,
    named: (_, name) => ({ id: NAMES.indexOf(name) + 1, name }) as never,
  }),
}

const budget = fc.record({
  orgId: fc.constantFrom(...ORGS),
  scope: fc.constantFrom(...SCOPES),
  entityId: fc.option(fc.constantFrom(...IDS)),
  entityLabel: fc.constantFrom(...NAMES),
  enabled: fc.boolean(),
})

it('equals one of all rows, whatever was made, changed, switched off or deleted, in steps of any size', () => {
  const change = fc.record({ id: fc.integer({ min: 1, max: 6 }), now: fc.option(budget) })
  const steps = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 20 })
  fc.assert(
    fc.property(steps, (all) => {
      const rows = new Map<number, Budget>()
      const directory = new BudgetDirectory(rows, entities)
      for (const changes of all) {
        for (const { id, now } of changes) {
          if (now === null) rows.delete(id)
          else rows.set(id, { ...now, id } as Budget)
        }
        directory.take(rows, new Set(changes.map(({ id }) => id)))
        const whole = new BudgetDirectory(new Map([...rows].sort(([a], [b]) => a - b)), entities)
        for (const ctx of contexts()) expect(directory.of(ctx)).toEqual(whole.of(ctx))
        expect([...directory.byId].sort(([a], [b]) => a - b)).toEqual([...whole.byId])
      }
    }),
  )
})

it('leaves the list of a running request as it is', () => {
  const of = (id: number): Budget =>
    ({ id, orgId: null, scope: 'org', entityId: null, entityLabel: null, enabled: true }) as Budget
  const rows = new Map([[1, of(1)]])
  const directory = new BudgetDirectory(rows, entities)
  const [ctx] = contexts() as [RequestContext]
  const before = directory.of(ctx)
  rows.set(2, of(2))
  directory.take(rows, new Set([2]))
  expect([before.map(({ id }) => id), directory.of(ctx).map(({ id }) => id)]).toEqual([[1], [1, 2]])
})

function contexts(): RequestContext[] {
  const principals = ORGS.flatMap((orgId) => [
    { orgId, keyId: null, label: null },
    ...IDS.map((keyId) => ({ orgId, keyId, label: NAMES[keyId - 1] as string })),
  ])
  return principals.flatMap((principal) =>
    [null, ...NAMES].map((virtualModel) => ({ operation: 'chat', principal, virtualModel }) as unknown as RequestContext),
  )
}
