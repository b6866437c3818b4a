// The service `routePreview`: the account that a request would be sent to first.
import { estimateRequest } from '../../../core/models/token-estimate.ts'
import type { Find } from '../names/names.ts'
import { featuresOf } from '../planning/capability.ts'
import type { RoutePreviewService } from '../service.ts'
import { orderNow, type PreviewSources } from './preview.ts'

/** Without a limit in the request, costs are compared for an answer of this length. */
const OUTPUT_GUESS = 1024

export function routePreview(sources: PreviewSources, find: Find): RoutePreviewService {
  return {
    first(orgId, { targets, virtualModel }, request) {
      const compiled = virtualModel === null ? null : find(orgId, virtualModel)
      if (compiled === null) {
        for (const target of targets) {
          const [connection] = sources.knowledge.accounts(orgId, target).available
          if (connection !== undefined) return { target, connection }
        }
        return null
      }
      const facts = {
        inputTokens: estimateRequest(request),
        maxTokens: request.maxTokens ?? OUTPUT_GUESS,
        stream: request.stream,
        features: featuresOf(request),
      }
      const [first] = orderNow(sources, orgId, { compiled, facts }).order
      const connection = first?.accounts.available[0]
      return first === undefined || connection === undefined ? null : { target: first.target, connection }
    },
  }
}
