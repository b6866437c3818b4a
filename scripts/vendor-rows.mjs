// The table of docs/endpoints.md: the codec of each provider for each operation.
import { operations } from '../dist/adapters/operations/index.js'
import { builtInProviders } from '../dist/adapters/providers/index.js'

/** Returns the head and the rows. */
export function vendorRows() {
  const names = operations.map(({ id }) => id)
  const rows = builtInProviders
    .filter(({ operations: served = {} }) => Object.keys(served).length > 0)
    .map(({ id, operations: served }) => [`\`${id}\``, ...names.map((name) => served[name]?.codec ?? '')])
  return [['Provider', ...names], rows]
}
