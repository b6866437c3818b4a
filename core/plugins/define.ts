// definePlugin: turns a definition into a factory. The options are checked against the plugin's own schema at set-up (options.ts).
import type { ZodObject, ZodType, z } from 'zod'
import type { WithSecrets } from '../config/secret.ts'
import type { Plugin, PluginDefinition } from '../types/plugin/plugin.ts'
import { VERSION } from '../version.ts'

/** Plugins built for this API version load; CHANGELOG lists the changes. */
export const PLUGIN_API_VERSION = 1

/** The argument of a plugin factory. It may be left out when every option is optional. Texts may be secret references. */
export type PluginOptions<C extends ZodObject> =
  Record<never, never> extends z.input<C> ? [options?: WithSecrets<z.input<C>>] : [options: WithSecrets<z.input<C>>]

/** Makes a plugin factory. The options argument is typed by `config`. */
export function definePlugin<
  C extends ZodObject = ZodObject<Record<never, never>>,
  S extends Record<string, ZodType> = Record<never, ZodType>,
>(definition: PluginDefinition<C, S>): (...options: PluginOptions<C>) => Plugin {
  const { name, requires = [] } = definition
  return (...[options = {}]) => ({ name, apiVersion: PLUGIN_API_VERSION, requires, definition, options })
}

/** @throws Error naming the plugin, both versions, and the fix. */
export function refuseOtherApi({ name, apiVersion }: Plugin): void {
  if (apiVersion === PLUGIN_API_VERSION) return
  const made = typeof apiVersion === 'number' ? `plugin API ${apiVersion}` : 'no plugin API that it names'
  const update = typeof apiVersion === 'number' && apiVersion > PLUGIN_API_VERSION ? 'Update hookgate' : 'Update the plugin'
  throw new Error(
    `The plugin \`${name}\` was made for ${made}; hookgate ${VERSION} has plugin API ${PLUGIN_API_VERSION}. ${update}, or take the plugin out of \`plugins\`.`,
  )
}
