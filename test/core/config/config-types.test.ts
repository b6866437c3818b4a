// The generated types of gateway.config.ts belong to what the core, the plugins and the providers declare.
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { builtInProviders } from '../../../adapters/providers/index.ts'
import { VARIABLES } from '../../../core/config/variables.ts'
import { variablesOf } from '../../../core/plugins/variables.ts'
import { preset } from '../../../plugins/preset.ts'
// @ts-expect-error a script without types
import { configTypes } from '../../../scripts/config-document.mjs'

it('`npm run gen:config` was run after the last change of a variable, a setting or a provider', async () => {
  const sources = { core: VARIABLES, variablesOf, plugins: preset(), providers: builtInProviders }
  const files = Object.entries(configTypes(sources) as Record<string, string>)
  expect(files).toHaveLength(3)
  for (const [path, text] of files) expect(await readFile(new URL(`../../../${path}`, import.meta.url), 'utf8'), path).toBe(text)
})
