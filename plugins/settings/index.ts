// /api/settings (SPEC "Control plane"; CONTRACTS 0.4): the runtime layer over what file and environment say.
import { z } from 'zod'
import { conflict } from '../../core/config/owned.ts'
import { firstIssue } from '../../core/http/api-routes.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { DeclaredSetting } from '../../core/services.ts'
import { mentioned, type Nested, nested } from './document.ts'
import { migrations, storedSettings, storeSettings } from './store.ts'

const document = z.record(z.string(), z.unknown())
/** Not a record: that would drop a member named `__proto__` in silence. */
const changes = z.custom<Nested>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
)
const sources = z.record(
  z.string(),
  z.strictObject({ source: z.enum(['default', 'config', 'env', 'runtime']), pinned: z.boolean() }),
)

export const settings = definePlugin({
  name: 'settings',
  migrations,
  async setup(gateway) {
    const registry = gateway.use('settings')
    const view = await gateway.view('runtime', storedSettings)
    registry.apply(view.current)
    view.watch((runtime) => registry.apply(runtime))
    const byKey = () => new Map(registry.declared().map((setting) => [setting.key, setting]))

    gateway.api({
      method: 'GET',
      path: '/api/settings',
      summary: 'Every setting with the value that holds now.',
      response: document,
      handler: () => nested(registry.declared()),
    })

    gateway.api({
      method: 'GET',
      path: '/api/settings/sources',
      summary: 'Where each value comes from, and whether gateway.config.ts pins it; by dotted key.',
      response: sources,
      handler: () => Object.fromEntries(registry.declared().map(({ key, source, pinned }) => [key, { source, pinned }])),
    })

    gateway.api({
      method: 'PUT',
      path: '/api/settings',
      summary: 'Changes settings, nested or by dotted key; null gives a setting back to file and environment.',
      body: changes,
      response: document,
      audit: 'settings.update',
      async handler({ body, operator, audited }) {
        const wanted = mentioned(body, byKey())
        for (const [key, value] of wanted) check(byKey().get(key) as DeclaredSetting, value)
        await view.write((db) => storeSettings(db, wanted, operator.actor, gateway.clock.now()))
        audited([...wanted.keys()].join(', ') || '-')
        return nested(registry.declared())
      },
    })
  },
})

/** @throws GatewayError 400 for a value that does not fit, 409 for one the file pins. */
function check({ key, schema, pinned }: DeclaredSetting, value: unknown): void {
  if (pinned) throw conflict(`gateway.config.ts pins \`${key}\`: change it there, or take the pin() away.`, 'managed_by_config')
  if (value === null) return
  const parsed = schema.safeParse(value)
  if (!parsed.success)
    throw firstIssue(parsed.error.issues.map((issue) => ({ ...issue, path: [...key.split('.'), ...issue.path] })))
}

export default settings
