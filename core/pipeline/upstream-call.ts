// The parts of one upstream call.
import type { CodecContext, DialectDriver } from '../types/request/dialect.ts'
import type { RequestState } from './context.ts'
import type { ErrorCleaner } from './error-cleaner.ts'
import type { Runtime } from './runtime.ts'

export interface UpstreamCall {
  readonly runtime: Runtime
  readonly ctx: RequestState
  readonly codec: CodecContext
  readonly driver: DialectDriver
  /** Both sides speak the same dialect and no hook needs events: the answer stays bytes. */
  readonly byteLane: boolean
  /** Removes secrets from an error. Errors of a started stream do not pass through sendAttempt. */
  readonly cleaner: ErrorCleaner
}
