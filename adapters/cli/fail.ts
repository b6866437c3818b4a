// A boot that fails says why in one paragraph and ends with 1.
import { consola } from 'consola'

export function failBoot(error: unknown): never {
  consola.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
