// `hookgate plan` and `hookgate apply`: print the changes that the configuration file makes in the database, and make them.
import type { MemberChange } from '../../core/config/declaration.ts'
import type { PlanAction, PlanStep } from '../../core/config/reconcile.ts'
import { action, JSON_FLAG, PLACE } from './action.ts'
import { readControlPlane, withControlPlane } from './control-plane.ts'
import { printable, printJson, say, styled } from './table.ts'

/** Exit code of a plan with changes. */
const CHANGES = 3
/** Version of the JSON output. It goes up when a member is removed or changes its meaning. */
const FORMAT = 1

export const plan = action({
  name: 'plan',
  description:
    'Print what the configuration file would change in the database, checked as `apply` checks it. Exit 3 when there are changes, 1 when something stands in the way.',
  args: { ...JSON_FLAG, ...PLACE },
  async run(given) {
    const steps = await readControlPlane(given, ({ gateway }) => gateway.plan())
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

const ACTIONS: Readonly<Record<PlanAction, { sign: string; style: 'green' | 'yellow' | 'red'; about: string }>> = {
  create: { sign: '+', style: 'green', about: 'new' },
  revive: { sign: '+', style: 'green', about: 'archived before' },
  adopt: { sign: '~', style: 'yellow', about: 'made through the API until now' },
  update: { sign: '~', style: 'yellow', about: 'changed' },
  archive: { sign: '-', style: 'red', about: 'no longer in the file' },
  conflict: {
    sign: '!',
    style: 'red',
    about: 'another row made through the API has this name: rename one, or set `adopt: true`',
  },
}

function show(steps: readonly PlanStep[], json: boolean | undefined, nothing: string): void {
  if (json) return printJson({ format: FORMAT, data: steps })
  if (steps.length === 0) {
    say.success(nothing)
    return
  }
  for (const step of steps) console.log(described(step))
  const counts = Object.keys(ACTIONS).map((name) => [steps.filter(({ action }) => action === name).length, name] as const)
  console.log(`\n${counts.flatMap(([count, name]) => (count > 0 ? [`${count} ${name}`] : [])).join(', ')}`)
}

function described({ action, section, key, name, id, changes }: PlanStep): string {
  const { sign, style, about } = ACTIONS[action]
  const row = [...(name === key ? [] : [name]), ...(id === null ? [] : [`row ${id}`]), about].join(', ')
  const head = `${styled(`${sign} ${action}`, style)} ${styled(`${section}.${key}`, 'bold')} (${printable(row)})`
  return [head, ...changes.map((change) => `    ${change.member}: ${printable(difference(change, action))}`)].join('\n')
}

function difference({ from, to }: MemberChange, action: PlanAction): string {
  return action === 'create' ? text(to) : `${text(from)} → ${text(to)}`
}

/** Returns a value as written in the file; for a secret only its source. */
function text(value: MemberChange['from']): string {
  if (value === null) return '(not set)'
  if (typeof value === 'object' && 'secret' in value && !Array.isArray(value)) {
    const { secret, name } = value
    if (secret === 'hidden') return '(secret)'
    return secret === 'inline' ? '(secret in the file)' : `secret.${String(secret)}(${String(name)})`
  }
  return JSON.stringify(value)
}
