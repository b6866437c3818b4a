// `hookgate plan` and `hookgate apply`: print the changes that the configuration file makes in the database, and make them.
import type { MemberChange } from '../../../core/config/declaration.ts'
import type { PlanAction, PlanStep } from '../../../core/config/reconcile.ts'
import { action, JSON_FLAG, PLACE } from '../action.ts'
import { readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { progressBar } from '../output/progress.ts'
import { printable, printJson, say, styled } from '../output/table.ts'
import { mayAsk, mayDraw } from '../terminal.ts'
import { type Applied, appliedSince, entriesNamed } from './applied.ts'
import { hasUnseenSecret, newKeys, newKeyWords } from './new-keys.ts'

/** Exit code of a plan that found differences. A conflict is one of them; `apply` fails on it. */
const CHANGES = 3
/** Version of the JSON output. It goes up when a member is removed or changes its meaning. */
const FORMAT = 1
/** Audit entries name it as the actor, as for every other change by the command line. */
const ACTOR = 'cli'
const NOTHING: Applied = { audit: [], server: null }

export const plan = action({
  name: 'plan',
  description:
    'Print what the configuration file would change in the database, checked as `apply` checks it. Exit 3 when file and database differ, conflicts included.',
  args: { ...JSON_FLAG, ...PLACE },
  async run(given) {
    const steps = await readControlPlane(given, ({ gateway }) => gateway.plan())
    show(steps, given.json, 'The database says what the file says.')
    return steps.length > 0 ? CHANGES : 0
  },
})

export const apply = action({
  name: 'apply',
  description: 'Make the database say what the configuration file says. `serve` does it at every start.',
  args: {
    yes: { type: 'boolean', description: 'Do not ask before the changes; without a terminal it never asks' },
    ...JSON_FLAG,
    ...PLACE,
  },
  async run(given) {
    const asks = given.yes !== true && given.json !== true && mayAsk()
    const applied = await withControlPlane(given, async (plane) => {
      const { gateway } = plane
      if (asks) {
        const steps = await gateway.plan()
        show(steps, false, 'No changes to apply.')
        if (steps.length === 0 || !(await agreed(steps.length))) return null
      }
      const since = new Date()
      const begin = performance.now()
      const steps = await gateway.apply(ACTOR)
      const seconds = (performance.now() - begin) / 1000
      if (steps.length === 0) return { steps, seconds, ...NOTHING, keys: [] }
      const shows = process.stdout.isTTY === true && given.json !== true
      return { steps, seconds, ...(await appliedSince(plane, since, ACTOR)), keys: await newKeys(plane, steps, shows) }
    })
    if (applied === null) return
    const { steps, seconds, audit, server, keys } = applied
    if (given.json) return printJson({ format: FORMAT, data: steps, audit, server })
    if (!asks) show(steps, false, 'No changes to apply.')
    if (steps.length === 0) return
    const bar = mayDraw() ? `${progressBar(1)} ` : ''
    const seen = server === null ? 'running servers see' : `${server.url} (gen ${server.generation}) sees`
    const done = [`${steps.length}/${steps.length} applied in ${seconds.toFixed(2)} s`, `${seen} it within two seconds`]
    say.log(`${bar}${[...done, entriesNamed(audit)].join(' · ')}`)
    for (const key of keys) {
      say.log(`  ${newKeyWords(key)}`)
      if (key.secret !== null) console.log(key.secret)
    }
  },
})

async function agreed(count: number): Promise<boolean> {
  const { confirmed } = await import('../init/questions.ts')
  return confirmed(`Apply ${count === 1 ? 'this change' : `these ${count} changes`}?`)
}

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
  console.log(`\n${summaryOf(steps)}`)
}

function summaryOf(steps: readonly PlanStep[]): string {
  const count = (...actions: PlanAction[]) => steps.filter(({ action }) => actions.includes(action)).length
  const conflicts = count('conflict')
  const parts = [
    [count('create', 'revive', 'adopt', 'update'), 'to add or change'],
    [count('archive'), 'to archive (history stays)'],
    [conflicts, conflicts === 1 ? 'conflict' : 'conflicts'],
  ] as const
  const text = parts.flatMap(([number, words]) => (number > 0 ? [`${number} ${words}`] : [])).join(', ')
  return conflicts > 0 ? `${text}. \`apply\` refuses until ${conflicts === 1 ? 'it is' : 'they are'} settled.` : text
}

function described(step: PlanStep): string {
  const { action, section, key, name, id, changes } = step
  const { sign, style } = ACTIONS[action]
  const about = hasUnseenSecret(step) ? 'new; `apply` makes its secret and shows it on a terminal' : ACTIONS[action].about
  const row = [...(name === key ? [] : [name]), ...(id === null ? [] : [`row ${id}`]), about].join(', ')
  const head = `${styled(`${sign} ${action}`, style)} ${styled(`${section}.${key}`, 'bold')} (${printable(row)})`
  return [head, ...changes.map((change) => `    ${change.member}: ${printable(difference(change, action))}`)].join('\n')
}

function difference({ from, to }: MemberChange, action: PlanAction): string {
  if (action === 'create') return text(to)
  return (Array.isArray(from) && Array.isArray(to) && listDifference(from, to)) || `${text(from)} → ${text(to)}`
}

/** Returns what came and went, with the place in the list; '' when only the order differs. */
function listDifference(from: readonly unknown[], to: readonly unknown[]): string {
  const before = from.map((item) => JSON.stringify(item))
  const after = to.map((item) => JSON.stringify(item))
  const kept = (list: readonly string[], other: readonly string[]) => list.filter((item) => other.includes(item)).join('\n')
  // An item that moved must not go unsaid.
  if (kept(before, after) !== kept(after, before)) return ''
  return [
    ...after.flatMap((item, at) => (before.includes(item) ? [] : [`+ ${item} (at ${at + 1})`])),
    ...before.flatMap((item) => (after.includes(item) ? [] : [`- ${item}`])),
  ].join(', ')
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
