// Options of the contract for a codec of an operation: the codec's provider, a request, and how its vendor answers.

import type { MediaOperation } from '../../../core/types/operations/operations.ts'
import type { Provider } from '../../../core/types/ports/provider.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { RecordedRequest, Step } from '../script.ts'

export interface OperationContract {
  /** Serves the operation, with a codec of its own or the name of one. */
  provider: Provider
  operation: MediaOperation
  /** Without the provider; default `model-1`. */
  model?: string
  /** Default: the first route of the operation. */
  path?: string
  /** Returns a valid request of a caller: a JSON body or a form. */
  request(model: string): Readonly<Record<string, unknown>> | FormData
  /** Returns the vendor's answer to one call: `raw(200, …)`. The same call must always get the same answer. */
  vendor(request: RecordedRequest): Step
  /** Checks all calls of one request. @throws when a value of the caller's request is missing or in the wrong place. */
  received(requests: readonly RecordedRequest[]): void
  /** Checks what the caller gets. @throws when it is not what the vendor answered. */
  answered(answer: ContractAnswer): void
  /** The counts that the request is charged by, from the vendor's answer. */
  usage: Partial<Pick<Usage, 'inputTotal' | 'outputTotal' | 'units'>>
}

export interface ContractAnswer {
  readonly contentType: string
  readonly bytes: Uint8Array
  /** Null: the answer is not JSON. */
  readonly json: Readonly<Record<string, unknown>> | null
}
