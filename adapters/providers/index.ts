// The provider registry.
import type { Provider } from '../../core/types/provider.ts'
import { ANTHROPIC, CATALOG, GOOGLE } from './catalog.ts'
import { echo } from './echo.ts'
import { openai } from './openai.ts'
import { providerOf } from './provider.ts'

export const builtInProviders: readonly Provider[] = [...[...CATALOG, ANTHROPIC, GOOGLE].map(providerOf), openai, echo].sort(
  (a, b) => (a.id < b.id ? -1 : 1),
)
