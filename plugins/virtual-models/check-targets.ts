// Checks that the targets of a virtual model exist: their providers, and the connections that they name.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { unknownProvider } from './fields.ts'
import type { VirtualModel } from './service.ts'
import type { VirtualModelFields } from './store.ts'

/** @throws GatewayError 400 for a new target without a connection; targets in `standing` are not checked. */
export type CheckTargets = (
  fields: VirtualModelFields,
  orgId: number | null,
  standing?: VirtualModel['targets'],
) => VirtualModelFields

export function checkTargets(gateway: Pick<PluginGateway, 'use'>): CheckTargets {
  const configuration = gateway.use('configuration')
  const connections = gateway.use('connections')
  const accounts = gateway.use('accounts')
  return (fields, orgId, standing = []) => {
    const refuseUnknown = (provider: string, param: string): void => {
      if (configuration.known(provider) || connections.knows(provider, orgId)) return
      const own = accounts.list().flatMap((one) => (one.orgId === orgId ? [one.connection] : []))
      if (own.some((connection) => connection.provider === provider)) return
      throw GatewayError.invalid(param, unknownProvider(provider, own))
    }
    const { judge } = fields.config
    if (judge !== null) refuseUnknown(judge.slice(0, judge.indexOf('/')), 'config.judge')
    for (const [index, target] of fields.targets.entries()) {
      if (standing.includes(target)) continue
      const param = `targets.${index}`
      refuseUnknown(target.provider, param)
      const { connectionId } = target
      if (connectionId === null) continue
      const named = accounts.list().find((one) => one.orgId === orgId && one.connection.id === `${connectionId}`)
      if (named === undefined) throw GatewayError.invalid(`${param}.connection_id`, `There is no connection ${connectionId}.`)
      const { provider } = named.connection
      if (provider !== configuration.providerId(target.provider))
        throw GatewayError.invalid(`${param}.connection_id`, `Connection ${connectionId} is one of \`${provider}\`.`)
    }
    return fields
  }
}
