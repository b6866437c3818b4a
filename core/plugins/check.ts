// Validates a plugin object before it is set up. Each message names the plugin and the mistake.
import type { ZodType } from 'zod'
import { owns } from '../http/data-routes.ts'
import type { ApiRoute, DataRoute, Plugin } from '../types/plugin/plugin.ts'

const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isSchema = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && isFunction((value as { safeParse?: unknown }).safeParse)
const isNames = (value: unknown): boolean => [value].flat().every((name) => typeof name === 'string')

/** @throws Error naming the plugin and the invalid member of its definition. */
export function checkPlugin({ name, requires, definition }: Plugin): void {
  if (typeof name !== 'string' || !NAME.test(name) || name.length > 64)
    throw new Error(
      `\`${String(name).slice(0, 64)}\` cannot be the name of a plugin: lower-case words with dashes between them, as \`slow-log\`.`,
    )
  const wrong = (member: string, what: string): never => {
    throw new Error(`The plugin \`${name}\` is defined wrongly: \`${member}\` must be ${what}.`)
  }
  const { setup, config, settings = {}, variables = {}, migrations = [] } = definition
  if (!isFunction(setup)) wrong('setup', 'a function')
  if (definition.offers !== undefined && !isFunction(definition.offers)) wrong('offers', 'a function')
  if (!Array.isArray(requires) || !isNames(requires)) wrong('requires', 'a list of names')
  if (config !== undefined && !(isSchema(config) && typeof config.shape === 'object')) wrong('config', 'a zod object')
  for (const [key, schema] of Object.entries(settings)) {
    if (!isSchema(schema)) wrong(`settings['${key}']`, 'a zod schema')
    const { scope } = (schema as ZodType).meta?.() ?? {}
    if (scope !== undefined && scope !== 'organization')
      wrong(`settings['${key}'].meta().scope`, '`organization`, or absent for a setting of the whole gateway')
  }
  if (typeof variables !== 'object' || Array.isArray(variables)) wrong('variables', 'an object')
  if (!Array.isArray(migrations)) wrong('migrations', 'a list')
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const ROLES = ['public', 'member', 'manage', 'owner', 'system']

/** @throws Error naming plugin and route. */
export function checkApiRoute(plugin: string, { method, path, role, handler }: ApiRoute): void {
  const wrong = refusal(plugin, method, path)
  if (!METHODS.includes(method)) wrong(`the method must be one of ${METHODS.join(', ')}`)
  if (typeof path !== 'string' || !path.startsWith('/')) wrong('the path must begin with `/`')
  if (owns(path)) wrong('paths below /v1 and /v1beta are of the data plane: register them with gateway.data()')
  if (path.includes('{')) wrong('a parameter is written `:id`')
  if (role !== undefined && !ROLES.includes(role)) wrong(`the role must be one of ${ROLES.join(', ')}`)
  if (!isFunction(handler)) wrong('it has no handler')
}

/** @throws Error naming plugin and route. */
export function checkDataRoute(plugin: string, { method, path, decode, handler }: DataRoute): void {
  const wrong = refusal(plugin, method, path)
  if (method !== 'GET' && method !== 'POST' && method !== 'DELETE') wrong('the method must be GET, POST or DELETE')
  if (typeof path !== 'string' || !owns(path)) wrong('the path must lie below /v1/ or /v1beta/')
  if (!isFunction(decode) && !isFunction(handler)) wrong('it needs `decode`, for the whole pipeline, or a `handler`')
}

function refusal(plugin: string, method: unknown, path: unknown): (why: string) => void {
  return (why) => {
    throw new Error(`The route ${method} ${path} of the plugin \`${plugin}\` is wrong: ${why}.`)
  }
}
