// The provider OpenAI. It speaks two dialects, and some models accept tools only in one of them, so each request chooses.

import type { Provider } from '../../core/types/ports/provider.ts'
import type { CanonicalRequest, Frozen } from '../../core/types/request/canonical.ts'
import type { ModelCaps } from '../../core/types/request/dialect.ts'
import { openaiCaps } from './caps/openai.ts'
import { OPENAI_IDS } from './id-limits.ts'
import { nearest, providerOf } from './provider.ts'

const dialects = { chat: '', responses: '' }

export const openai: Provider = {
  ...providerOf({
    id: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    dialects,
    quirks: { pdf: true, maxTools: 128, maxStop: 4, idLimits: OPENAI_IDS },
    caps: openaiCaps,
  }),
  dialectFor: (request, caller, caps) => (needsResponses(request, caps) ? 'responses' : nearest(dialects, caller)),
}

/** Returns whether the request has function tools that this model's chat endpoint refuses at the requested effort. */
export function needsResponses(request: () => Frozen<CanonicalRequest>, caps: Readonly<ModelCaps>): boolean {
  if (caps.toolsOnChat === undefined || caps.toolsOnChat === 'yes') return false
  const { tools, reasoning } = request()
  if (tools.length === 0) return false
  return caps.toolsOnChat === 'no' || reasoning?.effort !== 'none'
}
