// Types of the service that converts between messages and items of the responses dialect.
import type { JsonObject, Message } from './canonical.ts'

export interface ResponseItems {
  /** Returns messages as items of a request, without ids. */
  write(messages: readonly Message[]): JsonObject[]
  /** Returns items of a request or an answer as messages, in their order. @throws GatewayError 400 for an item that is malformed */
  read(items: readonly JsonObject[]): Message[]
}

declare module './plugin.ts' {
  interface Services {
    responseItems: ResponseItems
  }
}
