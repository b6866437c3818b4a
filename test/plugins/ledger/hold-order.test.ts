// Reservations of a plugin work for any order of its hook, and one that comes too late is refused, not lost.
import { afterEach, describe, expect, it } from 'vitest'
import { reply } from '../../../adapters/testing/script.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { HookOptions } from '../../../core/types/plugin/hooks.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { LedgerService } from '../../../plugins/ledger/service.ts'
import { type Books, openBooks, PRICE } from './support.ts'

const COST = 3 * PRICE.input + 7 * PRICE.output
const body = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }
const open: Books[] = []
afterEach(async () => {
  for (const books of open.splice(0)) await books.gateway.close()
})

const hold = (ledger: LedgerService, ctx: RequestContext): void =>
  ledger.hold(
    ctx,
    [
      {
        name: 'mine',
        windowStart: 0,
        amountNano: 500,
        limitNano: 100_000,
        refuse: () => new GatewayError('No money left.', { status: 402, type: 'insufficient_quota' }),
      },
    ],
    (error) => {
      throw error
    },
  )

async function books(setup: (gateway: PluginGateway, ledger: LedgerService) => void): Promise<Books> {
  const holder = definePlugin({
    name: 'late-holder',
    requires: ['ledger'],
    setup: (gateway) => setup(gateway as never, gateway.use('ledger')),
  })
  const answers = Array.from({ length: 3 }, () => reply({ text: 'Hi.', usage: { input: 3, output: 7 } }))
  const made = await openBooks({ upstream: answers, plugins: [holder()] })
  open.push(made)
  return made
}

const ask = async ({ gateway }: Books): Promise<number> => {
  const response = await gateway.post('/v1/chat/completions', body)
  await response.arrayBuffer()
  return response.status
}

const ORDERS: HookOptions[] = (['pre', 'normal', 'post'] as const).flatMap((order) => [
  { order },
  { order, after: 'ledger' },
  { order, before: 'ledger' },
])

describe('ledger.hold()', () => {
  it.each(ORDERS)('in an admit hook with %j reserves, and settlement frees what was reserved', async (options) => {
    const reserved: number[] = []
    const made = await books((gateway, ledger) => {
      gateway.hook('admit', (ctx) => hold(ledger, ctx), options)
      gateway.hook('candidates', async (_ctx, candidates) => {
        const [balance] = await ledger.balances(gateway.db, [{ name: 'mine', windowStart: 0 }])
        reserved.push(balance?.reservedNano ?? 0)
        return candidates
      })
    })
    for (let round = 1; round <= 3; round++) {
      expect(await ask(made)).toBe(200)
      await expect.poll(() => made.balance('mine')).toEqual({ spent: round * COST, reserved: 0 })
    }
    expect(reserved).toEqual([500, 500, 500])
  })

  it.each(['candidates', 'prepare', 'encoded'] as const)('in a %s hook is too late and throws', async (hook) => {
    const thrown: unknown[] = []
    const made = await books((gateway, ledger) => {
      gateway.hook(hook, ((ctx: RequestContext, given: unknown) => {
        try {
          hold(ledger, ctx)
        } catch (error) {
          thrown.push(error)
        }
        return hook === 'candidates' ? given : undefined
      }) as never)
    })
    expect(await ask(made)).toBe(200)
    expect(thrown.map(String)).toEqual([expect.stringMatching(/ledger\.hold\(\).*admit/)])
    expect(await made.balance('mine')).toEqual({ spent: 0, reserved: 0 })
  })

  it('after the reserve hook of the ledger throws, and so does charge() after its settle hook', async () => {
    const thrown: unknown[] = []
    const tried = (act: () => void): void => {
      try {
        act()
      } catch (error) {
        thrown.push(error)
      }
    }
    const made = await books((gateway, ledger) => {
      const late: HookOptions = { order: 'post', after: 'ledger' }
      gateway.hook('reserve', (ctx) => tried(() => hold(ledger, ctx)), late)
      gateway.hook('settle', (ctx) => tried(() => ledger.charge(ctx, [{ name: 'mine', windowStart: 0 }])), late)
    })
    expect(await ask(made)).toBe(200)
    await made.gateway.untilSettled(1)
    expect(thrown.map(String)).toEqual([
      expect.stringMatching(/ledger\.hold\(\).*admit/),
      expect.stringMatching(/ledger\.charge\(\).*settle/),
    ])
    expect(await made.balance('mine')).toEqual({ spent: 0, reserved: 0 })
  })
})
