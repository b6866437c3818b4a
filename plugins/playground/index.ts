// The playground: shows a request in every dialect without a call, and makes real requests with a trace.
import { definePlugin } from '../../core/plugins/define.ts'
import { runRoute } from './run.ts'
import { translateRoute } from './translate.ts'

export const playground = definePlugin({
  name: 'playground',
  requires: ['translator', 'tracedCalls'],
  setup(gateway) {
    translateRoute(gateway)
    runRoute(gateway)
  },
})

export default playground
