// The ways in which a filter call can fail. Each is a label of the metric, so the list is closed. There are no imports, because the
// worker reads this file too.

export const FAILURE_REASONS = [
  /** It exceeded its time and was terminated. */
  'timeout',
  /** It trapped, reported an error, or its worker died. */
  'trap',
  /** It requested more memory than allowed. */
  'memory',
  /** Input or output exceeds the limit. */
  'too_large',
  /** The output is not a valid answer of the ABI. */
  'bad_output',
  /** Too many calls wait, or one waited too long. */
  'busy',
  /** The guest with this request's state is gone. */
  'state_lost',
  /** It is disabled for a time after timeouts. */
  'off',
] as const

export type FailureReason = (typeof FAILURE_REASONS)[number]

export class FilterFailure extends Error {
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string) {
    super(message)
    this.name = 'FilterFailure'
    this.reason = reason
  }
}
