// Types of the service that converts between messages and items of the responses dialect.
import type { CanonicalRequest, Frozen, JsonObject, Message } from './canonical.ts'

export interface ResponseItems {
  /** Returns messages as items of a request, without ids. */
  write(messages: readonly Message[]): JsonObject[]
  /** Returns items of a request or an answer as messages, in their order. @throws GatewayError 400 for an item that is malformed */
  read(items: readonly JsonObject[]): Message[]
  /** Returns the response of a request that has no answer yet, with the status `queued`. `now`: epoch ms. */
  pending(request: Frozen<CanonicalRequest>, id: string, model: string, now: number): JsonObject
}

declare module '../plugin/plugin.ts' {
  interface Services {
    responseItems: ResponseItems
  }
}
