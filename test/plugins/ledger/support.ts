// A gateway with a readable ledger: fixed prices, and reservations set by a header.
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { LedgerService, UsageRow } from '../../../plugins/ledger/service.ts'
import { preset } from '../../../plugins/preset.ts'

/** Nano-USD per token. */
export const PRICE = { input: 2, output: 10 }

/** Listed before the preset, because the first provider of a service wins. */
export const fixedPrices = definePlugin({
  name: 'test-prices',
  setup(gateway) {
    gateway.provide('prices', {
      price: ({ usage, model }) => {
        if (model === 'unpriced') return null
        const costNano = usage.inputTotal * PRICE.input + usage.outputTotal * PRICE.output
        return { costNano, chargeNano: costNano, ref: 'test' }
      },
    })
  },
})

export interface Books {
  readonly gateway: TestGateway
  readonly ledger: LedgerService
  readonly inside: PluginGateway
  /** Returns rows, oldest first, after all writes. */
  rows(): Promise<UsageRow[]>
  balance(name: string): Promise<{ spent: number; reserved: number }>
  dispatched(): Promise<number>
}

export async function openBooks(options: TestGatewayOptions = {}): Promise<Books> {
  let ledger: LedgerService | undefined
  let inside: PluginGateway | undefined
  const holder = definePlugin({
    name: 'test-holds',
    requires: ['ledger'],
    setup(gateway) {
      const service = gateway.use('ledger')
      ledger = service
      inside = gateway as never
      // `x-hold: account 50/100`: 50 of a limit of 100.
      gateway.hook('admit', (ctx) => {
        const asked = /^(\S+) (\d+)\/(\d+)( open)?$/.exec(ctx.headers.get('x-hold') ?? '')
        if (asked === null) return
        const [, name, amount, limit, open] = asked
        service.hold(
          ctx,
          [
            {
              name: name as string,
              windowStart: 0,
              amountNano: Number(amount),
              limitNano: Number(limit),
              refuse: () => new GatewayError('No money left.', { status: 402, type: 'insufficient_quota' }),
            },
          ],
          (error) => {
            if (open === undefined) throw error
          },
        )
      })
    },
  })
  const gateway = await createTestGateway({
    ...options,
    config: { ...options.config, plugins: [fixedPrices(), ...(options.config?.plugins ?? preset())] },
    plugins: [...(options.plugins ?? []), holder()],
  })
  const plugin = inside as unknown as PluginGateway
  const books = ledger as unknown as LedgerService
  const everything = { since: 0, until: Number.MAX_SAFE_INTEGER }
  // Settlements are committed in the turn after the answer.
  const written = async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    gateway,
    ledger: books,
    inside: plugin,
    async rows() {
      await written()
      const rows: UsageRow[] = []
      await books.usage.newest(everything, 1000, (row) => void rows.push(row))
      return rows.sort((a, b) => a.requestId.localeCompare(b.requestId) || a.step - b.step)
    },
    async balance(name) {
      await written()
      const [found] = await books.balances(plugin.db, [{ name, windowStart: 0 }])
      return { spent: found?.spentNano ?? 0, reserved: found?.reservedNano ?? 0 }
    },
    async dispatched() {
      await written()
      const shared = plugin.db.dialect === 'sqlite' ? sql`(SELECT COUNT(*) FROM ledger_traces)` : sql`0`
      const row = await plugin.db.get<{ n: number }>(
        sql`SELECT (SELECT COUNT(*) FROM ledger_dispatch WHERE swept_at IS NULL) + ${shared} AS n`,
      )
      return row?.n ?? 0
    },
  }
}
