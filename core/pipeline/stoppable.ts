import type { GatewayErrorShape } from '../types/error.ts'

/** Part of a request that ends when the request is stopped. */
export interface Stoppable {
  cancel(reason: GatewayErrorShape): void
}
