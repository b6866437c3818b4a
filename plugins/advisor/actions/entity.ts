// The two things that an action changes: the targets of a virtual model, and a setting. Both are changed through the services behind the
// control plane, so that ownership, checks and replicas hold.
import { conflict } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import type { Operator } from '../../../core/types/operator.ts'
import type { PluginGateway, Services } from '../../../core/types/plugin/plugin.ts'
import { paramsOf } from '../kinds/targets-of.ts'
import type { ApplyAction, TargetParams } from '../service.ts'

type VirtualTarget = Parameters<Services['virtualTargetEdits']['replace']>[2][number]

/** The caller, or the watch with the role of the gateway itself. */
export interface By {
  readonly actor: string
  readonly role: Operator['role']
}

export interface Entity {
  /** One open action at a time may have it. */
  readonly name: string
  /** The virtual model whose requests show the effect; null: all requests of the organization. */
  readonly virtualModel: string | null
  /** JSON; null stands for a setting without a stored value. @throws GatewayError 404 when it does not exist any more. */
  read(): unknown
  /** @throws GatewayError 409 when it is not `expected` any more, or the file owns it. */
  write(value: unknown, expected: unknown, by: By): Promise<void>
}

/** Absent without the plugin that stores settings. */
export type SettingsSource = () => Services['runtimeSettings'] | undefined

export function entityOf(
  gateway: Pick<PluginGateway, 'use'>,
  settings: SettingsSource,
  orgId: number | null,
  action: ApplyAction,
): Entity {
  return action.type === 'set_setting' ? setting(settings, orgId, action.params.key) : virtualModel(gateway, orgId, action.params)
}

function virtualModel(
  gateway: Pick<PluginGateway, 'use'>,
  orgId: number | null,
  { id, name }: { id: number; name: string },
): Entity {
  return {
    name: `virtual_model:${id}`,
    virtualModel: name,
    read() {
      const model = gateway.use('virtualModels').get(orgId, id)
      if (model === null) throw notFound(`The virtual model \`${name}\` does not exist any more.`)
      return { targets: model.targets.map(paramsOf) }
    },
    write: (value, expected) => gateway.use('virtualTargetEdits').replace(orgId, id, targetsIn(value), targetsIn(expected)),
  }
}

function setting(source: SettingsSource, orgId: number | null, key: string): Entity {
  const settings = source()
  if (settings === undefined) throw notFound('This gateway stores no settings.')
  const stored = () => settings.stored(orgId, key) ?? null
  return {
    name: `setting:${key}`,
    virtualModel: null,
    read: () => ({ [key]: stored() }),
    async write(value, expected, { actor, role }) {
      if (JSON.stringify({ [key]: stored() }) !== JSON.stringify(expected))
        throw conflict(`\`${key}\` has changed since.`, 'conflict')
      const next = (value as Record<string, unknown>)[key]
      await settings.change(key, next ?? undefined, { orgId, role }, actor)
    },
  }
}

/** The entity after the action. */
export function afterOf(action: ApplyAction): unknown {
  return action.type === 'set_setting' ? { [action.params.key]: action.params.value } : { targets: action.params.targets }
}

function targetsIn(value: unknown): VirtualTarget[] {
  return (value as { targets: readonly TargetParams[] }).targets.map(({ target, connection_id, ...rest }) => {
    const slash = target.indexOf('/')
    const { weight, enabled, instruction, params } = rest
    return {
      provider: target.slice(0, slash),
      model: target.slice(slash + 1),
      weight,
      connectionId: connection_id,
      enabled,
      instruction,
      params,
    }
  })
}
