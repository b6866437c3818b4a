// Posts the sums of the last day to a chat, once a day across all replicas.
import { definePlugin } from 'hookgate'
import { z } from 'zod'

const DAY = 86_400_000

export const dailyReport = definePlugin({
  name: 'daily-report',
  config: z.object({ url: z.url() }),
  setup({ hook, every, clock, counters, internalHttp }, { url }) {
    let requests = 0
    let failed = 0
    let chargeNano = 0
    hook('settled', (_ctx, outcome) => {
      requests++
      if (outcome.status >= 500) failed++
      chargeNano += outcome.chargeNano ?? 0
    })
    every('report', DAY, async (signal) => {
      const day = new Date(clock.now()).toISOString().slice(0, 10)
      // True for the first replica that calls it; each replica counts its own requests.
      if (!(await counters.once(`report:${day}`, DAY))) return
      const text = `${requests} requests, ${failed} failed, ${(chargeNano / 1e9).toFixed(2)} USD`
      await internalHttp(url, { method: 'POST', body: { text: `${day}: ${text}` }, signal })
      requests = failed = chargeNano = 0
    })
  },
})
