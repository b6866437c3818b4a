// The service `requestLog`.
import type { RequestContext } from '../../core/types/context.ts'

/** Bodies that are not kept, also where bodies are. */
export interface OmittedBodies {
  readonly request: boolean
  readonly answer: boolean
}

export interface RequestLogService {
  /** Before the request ends. */
  omit(ctx: RequestContext, bodies: OmittedBodies): void
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    requestLog: RequestLogService
  }
}
