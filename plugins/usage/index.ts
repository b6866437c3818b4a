// Serves usage and cost: summaries, time series, rankings and exact reports over the ledger's rows.
import { definePlugin } from '../../core/plugins/define.ts'
import { evalRoute } from './eval.ts'
import { reportRoute } from './reports/route.ts'
import { summaryRoutes } from './summary.ts'
import { timeseriesRoute } from './timeseries.ts'

export const usage = definePlugin({
  name: 'usage',
  requires: ['ledger'],
  setup(gateway) {
    const { usage } = gateway.use('ledger')
    const savings = gateway.optional('savings')
    summaryRoutes(gateway, usage, savings)
    timeseriesRoute(gateway, usage)
    evalRoute(gateway, usage)
    reportRoute(gateway, usage, savings)
  },
})

export default usage
