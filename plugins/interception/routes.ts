// The routes of the interception proxy. Those that need a right of the system answer with the command that the operator runs.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { notFound } from '../../core/http/api-routes.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Controller } from './controller.ts'
import type { InterceptionOptions } from './options.ts'
import { aliasesSchema } from './state-file.ts'

const statusSchema = z.strictObject({
  enabled: z.boolean().describe('It starts with the server.'),
  running: z.boolean(),
  port: z.int().nullable(),
  ca: z.strictObject({
    exists: z.boolean(),
    installed: z.boolean(),
    fingerprint_sha256: z.string().nullable(),
    path: z.string().nullable(),
    expires_at: z.string().nullable(),
  }),
  hosts: z.array(
    z.strictObject({ host: z.string(), tool: z.string(), mapped: z.boolean().describe('The hosts file leads to this machine.') }),
  ),
  aliases: aliasesSchema.describe('Targets by tool and the model that the tool names; `*` is every other model.'),
})
const changeSchema = statusSchema.extend({
  command: z.string().nullable().describe('Run this: the gateway may not do it. null: it is done.'),
})

type Status = z.output<typeof statusSchema>

export function interceptionRoutes(gateway: PluginGateway, options: InterceptionOptions, found: Controller | null): void {
  const status = (): Status => {
    const { running = null, authority = null } = found ?? {}
    const leading = found?.mapped() ?? new Set()
    return {
      enabled: options.enabled,
      running: running !== null,
      port: running?.port ?? null,
      ca: {
        exists: authority !== null,
        installed: found?.trust.installed(authority) === true,
        fingerprint_sha256: authority?.fingerprint ?? null,
        path: authority?.path ?? null,
        expires_at: authority === null ? null : new Date(authority.expiresAt).toISOString(),
      },
      hosts: options.hosts.map(({ host, tool }) => ({ host, tool, mapped: leading.has(host) })),
      aliases: found?.aliases() ?? {},
    }
  }
  const kept = (): Controller => {
    if (found !== null) return found
    throw conflict(
      'no_data_dir',
      'This gateway has no data directory for the CA of the interception proxy. Set GATEWAY_DATA_DIR.',
    )
  }
  const changed = (command: string | null) => ({ ...status(), command })
  const needHosts = (): void => {
    if (options.hosts.length === 0)
      throw conflict('no_hosts', 'No host is intercepted. Name them in the option `hosts` of the plugin `interception`.')
  }
  const manage = { role: 'manage' } as const

  gateway.api({
    ...manage,
    method: 'GET',
    path: '/api/mitm',
    summary: 'State of the interception proxy.',
    response: statusSchema,
    handler: status,
  })
  gateway.api({
    ...manage,
    method: 'POST',
    path: '/api/mitm/start',
    summary: 'Starts the interception proxy until the gateway stops.',
    response: statusSchema,
    audit: 'mitm.start',
    async handler() {
      needHosts()
      await kept()
        .start()
        .catch((error: Error) => {
          throw conflict('not_started', error.message)
        })
      return status()
    },
  })
  gateway.api({
    ...manage,
    method: 'POST',
    path: '/api/mitm/stop',
    summary: 'Stops the interception proxy and removes its lines from the hosts file.',
    response: statusSchema,
    audit: 'mitm.stop',
    async handler() {
      await found?.stop()
      return status()
    },
  })
  gateway.api({
    ...manage,
    method: 'POST',
    path: '/api/mitm/ca/install',
    summary: 'Installs the CA certificate, where the gateway may.',
    response: changeSchema,
    audit: 'mitm.ca.install',
    async handler() {
      needHosts()
      return changed(await kept().install())
    },
  })
  gateway.api({
    ...manage,
    method: 'POST',
    path: '/api/mitm/ca/uninstall',
    summary: 'Removes the CA certificate from the system.',
    response: changeSchema,
    audit: 'mitm.ca.uninstall',
    handler: async () => changed((await found?.uninstall()) ?? null),
  })
  gateway.api({
    ...manage,
    method: 'GET',
    path: '/api/mitm/ca.pem',
    summary: 'The CA certificate, for clients that have certificates of their own.',
    handler() {
      const authority = found?.authority ?? null
      if (authority === null) throw notFound('There is no CA yet: start the proxy first.')
      return new Response(authority.pem, { headers: { 'content-type': 'application/x-pem-file' } })
    },
  })
  gateway.api({
    ...manage,
    method: 'PUT',
    path: '/api/mitm/hosts',
    summary: 'Leads a host to this machine while the proxy runs, or no longer.',
    body: z.strictObject({ host: z.string().max(253), mapped: z.boolean() }),
    response: changeSchema,
    audit: 'mitm.hosts',
    async handler({ body: { host, mapped }, audited }) {
      audited(host)
      if (options.hosts.every((entry) => entry.host !== host)) throw notFound(`\`${host}\` is no intercepted host.`, 'host')
      return changed(await kept().map(host, mapped))
    },
  })
  gateway.api({
    ...manage,
    method: 'PUT',
    path: '/api/mitm/aliases',
    summary: 'Sets the targets of the models that tools name.',
    body: aliasesSchema,
    response: statusSchema,
    audit: 'mitm.aliases',
    async handler({ body }) {
      const unknown = Object.keys(body).find((tool) => options.hosts.every((entry) => entry.tool !== tool))
      if (unknown !== undefined) throw GatewayError.invalid(unknown, `\`${unknown}\` is no tool of an intercepted host.`)
      await kept().setAliases(body)
      return status()
    },
  })
}

function conflict(code: string, message: string): GatewayError {
  return new GatewayError(message, { status: 409, type: 'invalid_request_error', code })
}
