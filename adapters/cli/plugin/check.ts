// `hookgate plugin check`: checks that a package follows the conventions for plugins, loads, and registers what it declares.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { silentLog } from '../../../core/log.ts'
import { PLUGIN_API_VERSION } from '../../../core/plugins/define.ts'
import type { PluginInfo } from '../../../core/types/plugin/info.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import { action, JSON_FLAG } from '../action.ts'
import { type Finding, fail, ok, reasonOf, warn } from '../doctor/finding.ts'
import { failUsage } from '../fail.ts'
import { showFindings } from '../output/findings.ts'
import { printJson } from '../output/table.ts'

/** Names of `permissions` in the `hookgate` block. */
const PERMISSIONS = ['network', 'database', 'routes', 'vault'] as const

const block = z.object({
  api: z.int(),
  hooks: z.array(z.string()),
  permissions: z.array(z.enum(PERMISSIONS)),
})

const manifest = z.object({
  name: z.string(),
  version: z.string(),
  type: z.string().optional(),
  keywords: z.array(z.string()).default([]),
  exports: z.unknown().optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  hookgate: z.unknown().optional(),
})
type Manifest = z.output<typeof manifest>

export const check = action({
  name: 'check',
  description: 'Check the package of a plugin: manifest, conventions, that it loads, and that it registers what it declares.',
  args: {
    folder: { type: 'string', description: 'Folder of the package; default: the working directory', valueHint: 'folder' },
    options: { type: 'string', description: 'Options for the plugin, as JSON', valueHint: 'json' },
    ...JSON_FLAG,
  },
  async run(given) {
    const folder = resolve(given.folder ?? '.')
    const findings = await examined(folder, optionsOf(given.options))
    if (given.json) printJson({ data: findings })
    else showFindings(findings)
    return findings.some(({ status }) => status === 'fail') ? 1 : 0
  },
})

function optionsOf(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Record<string, unknown>
  } catch {
    // Reported below.
  }
  return failUsage('`--options` must be a JSON object, as \'{"overMs": 100}\'.')
}

async function examined(folder: string, options: Record<string, unknown>): Promise<Finding[]> {
  const read = manifestOf(folder)
  if ('status' in read) return [read]
  const declared = block.safeParse(read.hookgate)
  return [...conventions(read), ...declaration(read, declared), ...(await running(folder, read, options, declared.data))]
}

function manifestOf(folder: string): Manifest | Finding {
  const path = join(folder, 'package.json')
  if (!existsSync(path))
    return fail('manifest', `${path} does not exist.`, 'Run the command in the folder of the package, or use --folder.')
  try {
    return manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    return fail('manifest', `${path} is not a package manifest: ${reasonOf(error)}`, 'It needs at least `name` and `version`.')
  }
}

function conventions({ name, keywords, type, dependencies, peerDependencies }: Manifest): Finding[] {
  const findings: Finding[] = []
  if (!/^(?:hookgate-(?:plugin|provider)-|@[^/]+\/hookgate-)/.test(name))
    findings.push(
      warn(
        'name',
        `\`${name}\` does not show that it is a plugin.`,
        'Name it hookgate-plugin-<name>, hookgate-provider-<name> or @scope/hookgate-<name>.',
      ),
    )
  if (!keywords.includes('hookgate-plugin'))
    findings.push(warn('keywords', '`hookgate-plugin` is missing.', 'Add it to `keywords`: people search for it.'))
  if (type !== 'module') findings.push(fail('type', 'The package is not of ES modules.', 'Set `"type": "module"`.'))
  if (dependencies.hookgate !== undefined)
    findings.push(
      fail('dependencies', 'hookgate is a dependency: the plugin would get a copy of its own.', 'Move it to `peerDependencies`.'),
    )
  else if (peerDependencies.hookgate === undefined)
    findings.push(fail('peerDependencies', 'hookgate is missing.', 'Add the versions that the plugin works with.'))
  return findings.length > 0
    ? findings
    : [ok('conventions', 'Name, keywords, module type and peer dependency are as they should be.')]
}

function declaration({ hookgate }: Manifest, declared: ReturnType<typeof block.safeParse>): Finding[] {
  const example = `"hookgate": { "api": ${PLUGIN_API_VERSION}, "hooks": ["response"], "permissions": [] }`
  if (hookgate === undefined)
    return [
      warn(
        'hookgate',
        'The block `hookgate` is missing: users cannot see what the plugin does before they run it.',
        `Add ${example}.`,
      ),
    ]
  if (!declared.success) {
    const issues = declared.error.issues.map(({ path, message }) => `${['hookgate', ...path].join('.')}: ${message}`)
    return [fail('hookgate', issues.join('; '), `It looks like ${example}. Permissions are ${PERMISSIONS.join(', ')}.`)]
  }
  if (declared.data.api === PLUGIN_API_VERSION) return []
  const text = `It declares plugin API ${declared.data.api}; this hookgate has ${PLUGIN_API_VERSION}.`
  return [fail('hookgate', text, 'Build it against this version, or use the hookgate that it is for.')]
}

async function running(
  folder: string,
  { exports }: Manifest,
  options: Record<string, unknown>,
  declared: z.output<typeof block> | undefined,
): Promise<Finding[]> {
  const outside = pathsOf(exports).find((path) => !path.startsWith('./'))
  if (outside !== undefined)
    return [fail('entry', `Node does not load \`${outside}\` of \`exports\`.`, 'Begin each path of `exports` with `./`.')]
  const entry = entryOf(folder, exports)
  if (entry === null)
    return [fail('entry', 'No file of `exports` exists, and there is no index.ts.', 'Build the package, or correct `exports`.')]
  const [{ loadPlugin }, { createGateway }, { preset }] = await Promise.all([
    import('../../node/loading/load-plugin.ts'),
    import('../../node/gateway.ts'),
    import('../../../plugins/preset.ts'),
  ])
  let plugin: Plugin
  let info: PluginInfo | undefined
  try {
    plugin = await loadPlugin(entry, options)
    const gateway = await createGateway({ plugins: [...preset(), plugin] }, { log: silentLog })
    info = gateway.plugins().find(({ name }) => name === plugin.name)
    await gateway.close()
  } catch (error) {
    return [fail('set-up', reasonOf(error), 'Correct it, or give the options that it needs with --options.')]
  }
  const hooks = info?.hooks ?? []
  const findings = [ok('set-up', `\`${plugin.name}\` loads from ${entry}, and registers ${hooks.join(', ') || 'no hook'}.`)]
  return declared === undefined ? findings : [...findings, ...compared(plugin, hooks, info?.routes ?? [], declared)]
}

function compared(
  plugin: Plugin,
  hooks: readonly string[],
  routes: readonly string[],
  declared: z.output<typeof block>,
): Finding[] {
  const findings: Finding[] = []
  const silent = hooks.filter((hook) => !declared.hooks.includes(hook))
  const unused = declared.hooks.filter((hook) => !hooks.includes(hook))
  if (silent.length > 0)
    findings.push(fail('hooks', `It registers ${silent.join(', ')}, and does not declare that.`, 'Add them to `hookgate.hooks`.'))
  if (unused.length > 0)
    findings.push(
      warn(
        'hooks',
        `It declares ${unused.join(', ')}, and registers none of them with these options.`,
        'Remove them from `hookgate.hooks`, if no option adds them.',
      ),
    )
  const needs = [
    ...(plugin.definition.migrations?.length ? ['database' as const] : []),
    ...(routes.length > 0 ? ['routes' as const] : []),
  ]
  for (const permission of needs)
    if (!declared.permissions.includes(permission))
      findings.push(fail('permissions', `It uses ${permission}, and does not declare that.`, 'Add it to `hookgate.permissions`.'))
  return findings.length > 0 ? findings : [ok('declaration', 'It registers what it declares.')]
}

/** Returns the paths of all entries and conditions. */
function pathsOf(exports: unknown): string[] {
  if (typeof exports === 'string') return [exports]
  return typeof exports === 'object' && exports !== null ? Object.values(exports).flatMap(pathsOf) : []
}

/** Returns the first existing file of `exports`, otherwise index.ts. */
function entryOf(folder: string, exports: unknown): string | null {
  const root = typeof exports === 'object' && exports !== null && '.' in exports ? exports['.'] : exports
  const named = typeof root === 'object' && root !== null ? (root as { default?: unknown }).default : root
  const paths = [...(typeof named === 'string' ? [named] : []), 'index.ts'].map((path) => join(folder, path))
  return paths.find((path) => existsSync(path)) ?? null
}
