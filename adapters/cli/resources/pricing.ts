// `hookgate pricing sync`: fetches the rate card now, as POST /api/pricing/sync does.
import { action, JSON_FLAG, PLANE } from '../action.ts'
import { withControlPlane } from '../control-plane/control-plane.ts'
import { count } from '../output/figures.ts'
import { cell, printJson, say } from '../output/table.ts'

interface Run {
  id: number | null
  status: 'ok' | 'unchanged' | 'failed' | 'disabled'
  source: 'primary' | 'fallback' | null
  ref: string | null
  models: number
  changed: number
  drifted: number
  error: string | null
}

export const sync = action({
  name: 'sync',
  description: 'Fetch the rate card now. Exit 1 when no source could be read, or the sync is switched off.',
  args: { ...JSON_FLAG, ...PLANE },
  async run(given) {
    const run = await withControlPlane(given, ({ call }) => call<Run>('POST', '/api/pricing/sync'))
    const code = run.status === 'failed' || run.status === 'disabled' ? 1 : 0
    if (given.json) {
      printJson(run)
      return code
    }
    if (run.status === 'disabled') throw new Error('The sync is switched off: GATEWAY_PRICING_SYNC_ENABLED is false.')
    if (run.status === 'failed') throw new Error(`No rate card could be fetched; the last prices stay. ${cell(run.error)}`)
    const from = `${run.source === 'primary' ? 'the rate card' : 'the second rate card'}${run.ref === null ? '' : ` ${cell(run.ref)}`}`
    if (run.status === 'unchanged') say.success(`${count(run.models)} models; ${from} has not changed.`)
    else say.success(`${count(run.models)} models from ${from}; ${count(run.changed)} prices are new.`)
    if (run.error !== null) say.warn(cell(run.error))
    if (run.drifted > 0) say.warn(`${count(run.drifted)} prices moved further than expected: look at GET /api/pricing/drift.`)
    return 0
  },
})
