// GET /api/plugins: lists the running plugins with their source, their registrations and their failures.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { PluginOverview } from '../../core/types/plugin/info.ts'

const panel = z.strictObject({
  id: z.string(),
  title: z.string(),
  slot: z.enum(['page', 'overview', 'request', 'connection', 'key']),
  view: z.enum(['stat', 'table', 'series', 'text']),
  source: z.string(),
  fields: z.array(
    z.strictObject({
      field: z.string(),
      title: z.string(),
      format: z.enum(['text', 'count', 'money', 'ms', 'percent', 'time']),
    }),
  ),
})
const hookOrder = z.array(z.strictObject({ hook: z.string(), plugins: z.array(z.string()) }))
const page = z.strictObject({
  id: z.string(),
  title: z.string(),
  routes: z.array(z.string()).describe('The routes of the plugin that the page may call.'),
})
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
  panels: z.array(panel),
  pages: z.array(page),
  state: z.enum(['running', 'degraded']).describe('`degraded`: one of its hooks failed in the last five minutes.'),
  errors: z.int().describe('Failures of its hooks since the start of this process.'),
  hook_errors: z.array(z.strictObject({ hook: z.string(), errors: z.int() })).describe('The same by hook.'),
  hook_runs: z
    .array(z.strictObject({ hook: z.string(), ran: z.int(), refused: z.int() }))
    .describe('How often its hooks ran and refused a request in this process, since the generation was sealed.'),
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
      role: 'system',
      response: z.strictObject({
        data: z.array(entry),
        order: hookOrder.describe('Every hook, with its plugins in the order in which they run.'),
        generation: z.int().describe('The one that serves. A reload that changes something makes the next one.'),
        sealed_at: z.iso.datetime().nullable(),
        before: z
          .strictObject({ generation: z.int(), sealed_at: z.iso.datetime(), order: hookOrder })
          .nullable()
          .describe('The generation before; null: there was no reload since the start of this process.'),
      }),
      handler: () => ({
        order: plugins.order(),
        ...sealedOf(plugins.sealed()),
        data: plugins.list().map(({ origin, apiVersion, lastError, hookErrors, hookRuns, ...info }) => ({
          ...info,
          hooks: [...info.hooks],
          routes: [...info.routes],
          services: [...info.services],
          panels: info.panels.map(({ fields = [], ...panel }) => ({
            ...panel,
            fields: fields.map(({ format = 'text', ...field }) => ({ ...field, format })),
          })),
          pages: info.pages.map(({ id, title, routes }) => ({ id, title, routes: [...routes] })),
          source: origin.kind,
          specifier: origin.specifier ?? null,
          api_version: apiVersion,
          hook_errors: hookErrors.map((one) => ({ ...one })),
          hook_runs: hookRuns.map((one) => ({ ...one })),
          last_error: lastError === null ? null : { hook: lastError.hook, at: new Date(lastError.at).toISOString() },
        })),
      }),
    })
  },
})

function sealedOf({ serving, before }: ReturnType<PluginOverview['sealed']>) {
  return {
    generation: serving?.generation ?? 1,
    sealed_at: serving === null ? null : new Date(serving.sealedAt).toISOString(),
    before: before && {
      generation: before.generation,
      sealed_at: new Date(before.sealedAt).toISOString(),
      order: before.order.map(({ hook, plugins }) => ({ hook, plugins: [...plugins] })),
    },
  }
}

export default pluginList
