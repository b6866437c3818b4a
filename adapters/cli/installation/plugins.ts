// `hookgate plugins`: lists the plugins of the configuration and their registrations.
import type { PluginInfo } from '../../../core/types/plugin/info.ts'
import { action, JSON_FLAG, PLACE } from '../action.ts'
import { EMPTY, withControlPlane } from '../control-plane/control-plane.ts'
import { cell, printJson, table } from '../output/table.ts'

interface Listed {
  name: string
  version: string | null
  source: PluginInfo['origin']['kind']
  specifier: string | null
  hooks: string[]
  routes: string[]
  services: string[]
}

export const listPlugins = action({
  name: 'plugins',
  description:
    'List the plugins of the configuration: version, source, hooks, routes. `GET /api/plugins` of a server also has their failures.',
  args: { ...JSON_FLAG, ...PLACE },
  async run(given) {
    const { data } = await withControlPlane(given, ({ call }) => call<{ data: Listed[] }>('GET', '/api/plugins'), {
      DATABASE_URL: EMPTY,
    })
    if (given.json) return printJson({ data })
    const rows = data.map(({ name, version, source, specifier, hooks, routes, services }) => [
      name,
      cell(version),
      specifier ?? source,
      cell(hooks),
      String(routes.length),
      cell(services),
    ])
    console.log(table(['PLUGIN', 'VERSION', 'SOURCE', 'HOOKS', 'ROUTES', 'SERVICES'], rows, {}, ['ROUTES']))
  },
})
