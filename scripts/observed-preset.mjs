// Records what the plugins of the preset register, for the generated parts of docs/.
import { preset } from '../dist/adapters/node/index.js'

/** The preset, with a record of each plugin's registrations. */
export function observedPreset() {
  const routes = []
  const metrics = new Map()
  const plugins = preset().map((plugin) => {
    const { name, definition } = plugin
    const record =
      (real) =>
      (metric, help, labels, ...rest) => {
        metrics.set(metric.startsWith('gen_ai_') ? metric : `gateway_${metric}`, { plugin: name, labels: labels ?? [] })
        return real(metric, help, labels, ...rest)
      }
    const setup = (scope, options) => {
      const watched = {
        metrics: new Proxy(scope.metrics, { get: (kinds, kind) => record(kinds[kind]) }),
        api(route) {
          routes.push({ ...route, plugin: name })
          scope.api(route)
        },
      }
      return definition.setup(new Proxy(scope, { get: (target, key) => watched[key] ?? Reflect.get(target, key) }), options)
    }
    return { ...plugin, definition: { ...definition, setup } }
  })
  return { plugins, routes, metrics }
}
