// Validates a page of a plugin when the plugin registers it. Each message names the plugin and the mistake.
import { z } from 'zod'
import { WORDED } from '../text/issue-text.ts'
import type { PluginPage } from '../types/plugin/page.ts'
import type { ApiRoute } from '../types/plugin/plugin.ts'

const page = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be lower-case words with dashes'),
  title: z.string().min(1).max(80),
  folder: z.union([z.string().min(1), z.instanceof(URL).refine(({ protocol }) => protocol === 'file:', 'must be a file: URL')]),
  routes: z.array(z.string()).max(50),
})

/** @throws Error naming the plugin, the page and the mistake. */
export function checkPage(plugin: string, given: PluginPage, routes: readonly ApiRoute[], pages: readonly PluginPage[]): void {
  const wrong = (why: string): never => {
    throw new Error(
      `The page \`${String((given as PluginPage | null)?.id).slice(0, 64)}\` of the plugin \`${plugin}\` is wrong: ${why}.`,
    )
  }
  const parsed = page.safeParse(given, WORDED)
  if (!parsed.success) return wrong(parsed.error.issues.map(({ path, message }) => `\`${path.join('.')}\` ${message}`).join('; '))
  const { id, routes: named } = parsed.data
  if (pages.some((other) => other.id === id)) wrong('the plugin has another page with this id')
  const own = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  const foreign = named.find((route) => !own.has(route))
  if (foreign !== undefined)
    wrong(`the plugin has no route \`${foreign.slice(0, 100)}\`; register it with gateway.api() before the page`)
}
