// After a change of the time zone, calendar budgets continue with the amount spent in their new windows.
import { expect, it } from 'vitest'
import { SITES } from '../../support/sites.ts'
import { NOON, org, site, wallClock } from './support.ts'

for (const [name, why, open] of SITES) {
  it.skipIf(why !== null)(`of ${name}: nothing starts at 0, there and back`, async () => {
    const { env, end } = await open()
    const clock = wallClock(NOON)
    try {
      let requests = 0
      let id = 0
      for (const zone of ['UTC', 'Asia/Kolkata', 'America/New_York', 'UTC']) {
        const s = await site({ env: { ...env, BUDGET_TIMEZONE: zone }, ports: { clock } })
        try {
          if (id === 0) id = (await s.budget({ ...org, hard_limit_usd: 1 })).id
          expect((await s.shown(id)).spend_usd).toBe(requests / 1000)
          expect(await s.spend()).toBe(200)
          requests++
          await expect.poll(async () => (await s.shown(id)).spend_usd).toBe(requests / 1000)
        } finally {
          await s.close()
        }
      }
    } finally {
      await end()
    }
  })
}
