// Every dialect and every provider of the registry passes its contract; third parties run the same cases.
import { describe, it } from 'vitest'
import { dialects } from '../../adapters/node/ports.ts'
import { builtInProviders } from '../../adapters/providers/index.ts'
import { dialectContract } from '../../adapters/testing/contracts/dialect-contract.ts'
import { providerContract } from '../../adapters/testing/contracts/provider-contract.ts'
import { RENDERERS } from '../../adapters/testing/scripted-upstream.ts'

describe.each(dialects.map((driver) => [driver.id, driver] as const))('the dialect %s', (id, driver) => {
  for (const { name, run } of dialectContract(driver, RENDERERS[id])) it(name, run)
})

describe('the provider', () => {
  for (const provider of builtInProviders) for (const { name, run } of providerContract(provider)) it(name, run)
})
