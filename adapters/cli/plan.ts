// `hookgate plan` and `hookgate apply`: what the configuration file would change in the database, and the change itself.
import type { PlanStep } from '../../core/config/reconcile.ts'
import { action, JSON_FLAG, PLACE } from './action.ts'
import { withControlPlane } from './control-plane.ts'
import { cell, printJson, say, table } from './table.ts'

/** Exit code of a plan with changes. */
const CHANGES = 3
const STYLES = { create: 'green', revive: 'green', adopt: 'yellow', update: 'yellow', archive: 'red', conflict: 'red' } as const

export const plan = action({
  name: 'plan',
  description:
    'Print what the configuration file would change in the database. Exit 3 when there are changes, 1 when something stands in the way.',
  args: { ...JSON_FLAG, ...PLACE },
  async run(given) {
    const steps = await withControlPlane(given, ({ gateway }) => gateway.plan())
    show(steps, given.json, 'The database says what the file says.')
    if (steps.some(({ action }) => action === 'conflict')) return 1
    return steps.length > 0 ? CHANGES : 0
  },
})

export const apply = action({
  name: 'apply',
  description: 'Make the database say what the configuration file says. `serve` does it at every start.',
  args: { ...JSON_FLAG, ...PLACE },
  async run(given) {
    const steps = await withControlPlane(given, ({ gateway }) => gateway.apply())
    show(steps, given.json, 'No changes to apply.')
  },
})

function show(steps: readonly PlanStep[], json: boolean | undefined, nothing: string): void {
  if (json) return printJson({ data: steps })
  if (steps.length === 0) {
    say.success(nothing)
    return
  }
  const rows = steps.map(({ action, section, key, name, id, changes }) => [action, section, key, name, id, changes].map(cell))
  console.log(table(['ACTION', 'SECTION', 'KEY', 'NAME', 'ROW', 'CHANGES'], rows, STYLES))
}
