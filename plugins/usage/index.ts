// What was used and what it cost: summaries, time series, rankings and exact reports over the ledger's rows.
import { definePlugin } from '../../core/plugins/define.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import { evalRoute } from './eval.ts'
import { reportRoute } from './reports/route.ts'
import { summaryRoutes } from './summary.ts'
import { timeseriesRoute } from './timeseries.ts'

export const usage = definePlugin({
  name: 'usage',
  requires: ['ledger'],
  setup(gateway) {
    const plain = gateway as unknown as PluginGateway
    const { usage } = gateway.use('ledger')
    const savings = gateway.optional('savings')
    summaryRoutes(plain, usage, savings)
    timeseriesRoute(plain, usage)
    evalRoute(plain, usage)
    reportRoute(plain, usage, savings)
  },
})

export default usage
