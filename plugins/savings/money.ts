// Computes actual and avoided cost of calls at current prices.
import { accountOf } from '../../core/records/request-record.ts'
import type { StepPrice } from '../../core/services.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Usage } from '../../core/types/request/answer.ts'
import type { RequestContext, Step, Target } from '../../core/types/request/context.ts'
import type { PriceRef } from './saving.ts'

export interface Money {
  /** Returns null when no price is known. */
  price(ctx: RequestContext, connection: Connection | null, model: string, usage: Usage): StepPrice | null
  /** Returns the account of a step. */
  connectionOf(ctx: RequestContext, step: Step): Connection | null
  /** Returns the accounts that may serve a target. */
  accounts(ctx: RequestContext, target: Pick<Target, 'provider' | 'model' | 'connectionId'>): readonly Connection[]
  ref(ctx: RequestContext, provider: string, model: string, ref: string): PriceRef
}

export function moneyOf(gateway: PluginGateway): Money {
  const prices = gateway.optional('prices')
  const rateCard = gateway.optional('rateCard')
  const connections = gateway.optional('connections')
  const accounts: Money['accounts'] = (ctx, { provider, model, connectionId }) => {
    const all = connections()?.list(provider, model, ctx) ?? []
    return connectionId === null ? all : all.filter(({ id }) => id === connectionId)
  }
  return {
    accounts,
    price(ctx, connection, model, usage) {
      if (connection === null) return null
      return prices()?.price({ connection, model, operation: ctx.operation, usage }) ?? null
    },
    connectionOf(ctx, { connectionId, provider, model, shared }) {
      // Shared connections have one account name; of one provider and model they have one price.
      const tried = ctx.attempts.find(
        ({ candidate }) =>
          accountOf(candidate) === connectionId &&
          (shared === undefined || (candidate.connection.provider === provider && candidate.target.model === model)),
      )
      return tried?.candidate.connection ?? accounts(ctx, { provider, model, connectionId })[0] ?? null
    },
    ref(ctx, provider, model, ref) {
      const resolved = rateCard()?.resolve(provider, model, ctx.principal.orgId)
      // The card does not price this call: its price has another source, or the model is local and free.
      const own = resolved?.ref === ref ? resolved : undefined
      const { input, output, cacheRead, cacheWrite } = own?.price ?? {}
      return {
        source: own?.source ?? null,
        ref,
        input_per_1m: usd(input),
        output_per_1m: usd(output),
        cache_read_per_1m: usd(cacheRead),
        cache_write_per_1m: usd(cacheWrite),
      }
    },
  }
}

function usd(nano: number | undefined): number | null {
  return nano === undefined ? null : nano / 1e9
}
