// How a call of a filter can fail; the word is a label of the metric, so the list is closed. No import: the worker reads it too.

export const FAILURE_REASONS = [
  /** Ran over its time and was ended. */
  'timeout',
  /** Trapped, said so itself, or its worker died. */
  'trap',
  /** Asked for more memory than it may have. */
  'memory',
  /** Input or output over the limit. */
  'too_large',
  /** The output is no answer of the ABI. */
  'bad_output',
  /** Too many calls wait, or one waited too long. */
  'busy',
  /** The guest that kept this request's state is gone. */
  'state_lost',
  /** It is off for a while, after timeouts. */
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
