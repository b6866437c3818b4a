// Type of the service `requestLog`.
import type { RequestContext } from '../../core/types/request/context.ts'

/** Bodies that are not stored, even when bodies are logged. */
export interface OmittedBodies {
  readonly request: boolean
  readonly answer: boolean
}

export interface RequestLogService {
  /** Call it before the request ends. */
  omit(ctx: RequestContext, bodies: OmittedBodies): void
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    requestLog: RequestLogService
  }
}
