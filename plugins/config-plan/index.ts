// GET /api/config/plan: what the configuration file would change in the database, as `hookgate plan --json` prints it, secrets masked.
import { z } from 'zod'
import { conflict } from '../../core/config/owned.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { driftFacts } from './attention.ts'

/** Version of the answer. It goes up when a member is removed or changes its meaning. */
const FORMAT = 1 as const

const json = z.json()
const step = z.strictObject({
  section: z.string(),
  key: z.string(),
  name: z.string(),
  action: z
    .enum(['create', 'update', 'revive', 'adopt', 'archive', 'conflict'])
    .describe('`conflict`: a row that was made through the API has this name.'),
  id: z.int().nullable().describe('The row, if there is one.'),
  changes: z
    .array(z.strictObject({ member: z.string(), from: json, to: json }))
    .describe('Members that differ. A secret is shown as its reference only.'),
})

export const configPlan = definePlugin({
  name: 'config-plan',
  setup(gateway) {
    const plan = gateway.use('configPlan')
    gateway.api({
      method: 'GET',
      path: '/api/config/plan',
      summary:
        'Checks the configuration file as a start does, and lists the changes it would make to the database. It changes nothing.',
      role: 'system',
      response: z.strictObject({ format: z.literal(FORMAT), data: z.array(step) }),
      async handler() {
        const steps = await plan.checked().catch(refused)
        return { format: FORMAT, data: steps.map((one) => ({ ...one, changes: one.changes.map((change) => ({ ...change })) })) }
      },
    })
    return gateway.use('attention').contribute('config-plan', driftFacts(plan, gateway.clock))
  },
})

/** The check found an entry that cannot be applied. A database that does not answer stays an error of its own. @throws always */
function refused(error: unknown): never {
  if (GatewayError.is(error) || !(error instanceof Error)) throw error
  throw conflict(error.message, 'plan_refused')
}

export default configPlan
