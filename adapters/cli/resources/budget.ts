// `hookgate budget`: shows and sets the spending limits of keys, virtual models and the organization.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { readControlPlane, withControlPlane } from '../control-plane/control-plane.ts'
import { failUsage } from '../fail.ts'
import { amount, count, id } from '../flag-values.ts'
import { future } from '../instants.ts'
import { bar, localTime, usd } from '../output/figures.ts'
import { cell, printJson, say, table } from '../output/table.ts'

interface Budget {
  id: number
  scope: 'org' | 'virtual_model' | 'key'
  entity_id: number | null
  entity_label: string | null
  window: string
  hard_limit_usd: number
  enabled: boolean
  effective_limit_usd: number
  spend_usd: number
  reserved_usd: number
  remaining_usd: number
  percent_used: number
  window_end: string | null
  projected_exceeded: boolean
  managed_by: string
  warning?: { message: string }
}

const BAR_WIDTH = 10
const byId = { id: { type: 'positional', required: true, description: 'Number of the budget' } } as const

export const listBudgets = action({
  name: 'list',
  description: 'List budgets with what is spent of them.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const budgets = await readControlPlane(given, ({ call }) => call<{ data: Budget[] }>('GET', '/api/budgets'))
    if (given.json) return printJson(budgets)
    const head = ['ID', 'FOR', 'WINDOW', 'LIMIT', 'SPENT', 'RESERVED', 'LEFT', 'USED', '', 'ENDS', 'STATE', 'FROM']
    const rows = budgets.data.map((budget) => [
      String(budget.id),
      whose(budget),
      budget.window,
      // The effective limit includes a valid increase.
      budget.effective_limit_usd === budget.hard_limit_usd
        ? usd(budget.hard_limit_usd)
        : `${usd(budget.effective_limit_usd)} (${usd(budget.hard_limit_usd)})`,
      usd(budget.spend_usd),
      usd(budget.reserved_usd),
      usd(budget.remaining_usd),
      `${Math.round(budget.percent_used)}%`,
      bar(budget.percent_used / 100, BAR_WIDTH),
      budget.window_end === null ? '-' : localTime(budget.window_end),
      stateOf(budget),
      budget.managed_by,
    ])
    console.log(table(head, rows, STYLES, ['LIMIT', 'SPENT', 'RESERVED', 'LEFT', 'USED']))
    for (const { id: number, warning } of budgets.data)
      if (warning !== undefined) say.warn(`Budget ${number}: ${warning.message}`)
  },
})

const STYLES = { ok: 'green', 'will exceed': 'yellow', 'used up': 'red', disabled: 'dim', 'no entity': 'yellow' } as const

function stateOf({ enabled, warning, remaining_usd, projected_exceeded }: Budget): keyof typeof STYLES {
  if (!enabled) return 'disabled'
  if (warning !== undefined) return 'no entity'
  if (remaining_usd <= 0) return 'used up'
  return projected_exceeded ? 'will exceed' : 'ok'
}

function whose({ scope, entity_id, entity_label }: Budget): string {
  if (scope === 'org') return 'everything'
  return `${scope === 'key' ? 'key' : 'virtual model'} ${cell(entity_label ?? entity_id)}`
}

export const create = action({
  name: 'create',
  description: 'Limit what a key, a virtual model or, without either, everything may spend in a window.',
  args: {
    limit: { type: 'string', description: 'USD; 0 blocks everything', valueHint: 'usd' },
    window: {
      type: 'string',
      description: 'hourly, daily, weekly, monthly, yearly or lifetime; default: monthly',
      valueHint: 'window',
    },
    key: { type: 'string', description: 'Number of the client key it is for', valueHint: 'id' },
    'virtual-model': { type: 'string', description: 'Name of the virtual model it is for', valueHint: 'name' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { hard_limit_usd: 'limit', window: 'window', entity_id: 'key', entity_label: 'virtual-model' },
  async run(given) {
    const { key, 'virtual-model': model, window = 'monthly' } = given
    if (given.limit === undefined) failUsage('`--limit` is missing: how many USD may be spent in the window.')
    if (key !== undefined && model !== undefined) failUsage('`--key` and `--virtual-model`: a budget is for one of the two.')
    const body = {
      scope: key === undefined ? (model === undefined ? 'org' : 'virtual_model') : 'key',
      entity_id: count('key', key),
      entity_label: model,
      window,
      hard_limit_usd: amount('limit', given.limit),
    }
    const made = await withControlPlane(given, ({ call }) => call<Budget>('POST', '/api/budgets', body))
    if (given.json) return printJson(made)
    say.success(`Budget ${made.id} (${whose(made)}, ${made.window}, ${usd(made.hard_limit_usd)}) is made.`)
    if (made.spend_usd > 0) say.info(`${usd(made.spend_usd)} were spent in its window already, and count.`)
    console.log(made.id)
  },
})

export const remove = action({
  name: 'delete',
  description: 'End a budget: here at once, on running servers within two seconds.',
  args: { ...byId, ...JSON_FLAG, ...PLANE },
  async run(given) {
    const budget = id(given.id)
    const answer = await withControlPlane(given, ({ call }) => call('DELETE', `/api/budgets/${budget}`))
    if (given.json) printJson(answer)
    else say.success(`Budget ${budget} is deleted.`)
  },
})

export const increase = action({
  name: 'increase',
  description: 'Raise the limit of a budget until a time; also of one that the file declares.',
  args: {
    ...byId,
    amount: { type: 'string', description: 'USD more', valueHint: 'usd' },
    until: { type: 'string', description: 'When it ends: 12h, 14:30, 2027-01-31, RFC 3339', valueHint: 'time' },
    reason: { type: 'string', description: 'Why; shown with the increase', valueHint: 'text' },
    ...JSON_FLAG,
    ...PLANE,
  },
  fields: { amount_usd: 'amount', expires_at: 'until', reason: 'reason' },
  async run(given) {
    if (given.amount === undefined) failUsage('`--amount` is missing: how many USD more.')
    if (given.until === undefined) failUsage('`--until` is missing: when the increase ends.')
    const path = `/api/budgets/${id(given.id)}/increase`
    const body = { amount_usd: amount('amount', given.amount), expires_at: future('until', given.until), reason: given.reason }
    const raised = await withControlPlane(given, ({ call }) => call<Budget>('POST', path, body))
    if (given.json) return printJson(raised)
    say.success(
      `The limit of budget ${raised.id} is ${usd(raised.effective_limit_usd)} until ${localTime(body.expires_at ?? '')}.`,
    )
  },
})
