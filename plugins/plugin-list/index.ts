// GET /api/plugins: lists the running plugins with their source, their registrations and their failures.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'

const entry = z.strictObject({
  name: z.string(),
  version: z.string().nullable().describe('Of the plugin or its package; null when neither says one.'),
  source: z.enum(['hookgate', 'package', 'file', 'code']).describe('`code`: the configuration made it.'),
  specifier: z.string().nullable().describe('The package or path that the configuration file names.'),
  api_version: z.int(),
  generation: z.int().describe('The generation that it was set up in. A reload that keeps it does not change this.'),
  hooks: z.array(z.string()),
  routes: z.array(z.string()),
  services: z.array(z.string()),
  state: z.enum(['running', 'degraded']).describe('`degraded`: one of its hooks failed in the last five minutes.'),
  errors: z.int().describe('Failures of its hooks since the start of this process.'),
  last_error: z.strictObject({ hook: z.string(), at: z.iso.datetime() }).nullable().describe('The log has the message.'),
})

export const pluginList = definePlugin({
  name: 'plugin-list',
  requires: ['plugins'],
  setup(gateway) {
    const plugins = gateway.use('plugins')
    gateway.api({
      method: 'GET',
      path: '/api/plugins',
      summary: 'Plugins in the order of the configuration, with what they registered and their failures in this process.',
      response: z.strictObject({ data: z.array(entry) }),
      handler: () => ({
        data: plugins.list().map(({ origin, apiVersion, lastError, ...info }) => ({
          ...info,
          hooks: [...info.hooks],
          routes: [...info.routes],
          services: [...info.services],
          source: origin.kind,
          specifier: origin.specifier ?? null,
          api_version: apiVersion,
          last_error: lastError === null ? null : { hook: lastError.hook, at: new Date(lastError.at).toISOString() },
        })),
      }),
    })
  },
})

export default pluginList
