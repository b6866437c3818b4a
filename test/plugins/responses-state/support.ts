// A gateway with a clock that also passes by itself, and its database.
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { wallClock } from '../budgets/support.ts'

export interface Storing {
  readonly t: TestGateway
  readonly db: Db
  readonly clock: ReturnType<typeof wallClock>
}

export async function storingGateway(options: TestGatewayOptions): Promise<Storing> {
  const clock = wallClock()
  let db: Db | undefined
  const reader = definePlugin({
    name: 'test-reader',
    setup(gateway) {
      db = gateway.db
    },
  })
  const t = await createTestGateway({ plugins: [reader()], ports: { clock }, ...options })
  return { t, clock, db: db as unknown as Db }
}
