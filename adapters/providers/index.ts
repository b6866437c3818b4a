// The provider registry.
import type { Provider } from '../../core/types/ports/provider.ts'
import { ANTHROPIC, CATALOG, GOOGLE } from './catalog.ts'
import { CLIENT_VERSIONS } from './client-versions.ts'
import { azure } from './cloud/azure.ts'
import { bedrock } from './cloud/bedrock.ts'
import { vertex } from './cloud/vertex.ts'
import { echo } from './echo.ts'
import { openai } from './openai.ts'
import { PRESENTED } from './presented.ts'
import { providerOf } from './provider.ts'

export const builtInProviders: readonly Provider[] = [
  ...[...CATALOG, ANTHROPIC, GOOGLE].map(providerOf),
  azure,
  bedrock,
  vertex,
  openai,
  echo,
]
  .map((provider) => {
    const [name, docsUrl] = PRESENTED[provider.id] ?? [provider.id, null]
    const clientVersion = CLIENT_VERSIONS[provider.id]
    return { ...provider, name, docsUrl, ...(clientVersion === undefined ? {} : { clientVersion }) }
  })
  .sort((a, b) => (a.id < b.id ? -1 : 1))
