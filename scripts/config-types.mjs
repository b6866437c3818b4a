// Writes the types of gateway.config.ts that come from declarations: options of the core, options and settings of the built-in plugins,
// and provider ids.
//
//   npm run gen:config
import { writeFileSync } from 'node:fs'
import { builtInProviders } from '../dist/adapters/providers/index.js'
import { VARIABLES } from '../dist/core/config/variables.js'
import { variablesOf } from '../dist/core/plugins/variables.js'
import { preset } from '../dist/plugins/preset.js'
import { configTypes } from './config-document.mjs'

const files = configTypes({ core: VARIABLES, variablesOf, plugins: preset(), providers: builtInProviders })
for (const [path, text] of Object.entries(files)) {
  writeFileSync(new URL(`../${path}`, import.meta.url), text)
  console.log(`${path} is up to date.`)
}
