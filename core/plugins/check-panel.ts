// Validates a panel of the dashboard when a plugin registers it. Each message names the plugin and the mistake.
import { z } from 'zod'
import { WORDED } from '../text/issue-text.ts'
import type { Panel } from '../types/plugin/panel.ts'
import type { ApiRoute } from '../types/plugin/plugin.ts'

const SLOTS_WITH_ID = new Set(['request', 'connection', 'key'])

const title = z.string().min(1).max(80)
const panel = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be lower-case words with dashes'),
  title,
  slot: z.enum(['page', 'overview', 'request', 'connection', 'key']),
  view: z.enum(['stat', 'table', 'series', 'text']),
  source: z.string().startsWith('/'),
  fields: z
    .array(
      z.strictObject({
        field: z.string().min(1).max(80),
        title,
        format: z.enum(['text', 'count', 'money', 'ms', 'percent', 'time']).optional(),
      }),
    )
    .max(20)
    .optional(),
})

/** @throws Error naming the plugin, the panel and the mistake. */
export function checkPanel(plugin: string, given: Panel, routes: readonly ApiRoute[], panels: readonly Panel[]): void {
  const wrong = (why: string): never => {
    throw new Error(
      `The panel \`${String((given as Panel | null)?.id).slice(0, 64)}\` of the plugin \`${plugin}\` is wrong: ${why}.`,
    )
  }
  const parsed = panel.safeParse(given, WORDED)
  if (!parsed.success) return wrong(parsed.error.issues.map(({ path, message }) => `\`${path.join('.')}\` ${message}`).join('; '))
  const { id, slot, view, source, fields = [] } = parsed.data
  if (panels.some((other) => other.id === id)) wrong('the plugin has another panel with this id')
  if (!routes.some(({ method, path }) => method === 'GET' && path === source))
    wrong(`the plugin has no route GET ${source}; register it with gateway.api() before the panel`)
  const parameters = source.split('/').filter((part) => part.startsWith(':'))
  if (parameters.some((part) => part !== ':id') || (parameters.length > 0 && !SLOTS_WITH_ID.has(slot)))
    wrong('its source may have the parameter `:id` only, and only for a request, a connection or a key')
  if (view !== 'text' && fields.length === 0) wrong(`the view \`${view}\` needs \`fields\``)
  if (view === 'series' && fields.length !== 2) wrong('the view `series` needs two fields: the time and the value')
}
