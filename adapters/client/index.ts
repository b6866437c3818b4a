// hookgate/client: typed calls of the control plane, by address or in process.
import type {
  AnswerOf,
  ItemOf,
  JsonPaths,
  ListPaths,
  Method,
  OperationAt,
  OptionsArgument,
  PathsWith,
  UntypedCall,
} from './call-types.ts'
import { type EventsOptions, type LiveMessage, liveEvents } from './live-events.ts'
import { type ClientOptions, type Send, sender } from './send.ts'

export type { AnswerOf, CallOptions, ItemOf, JsonPaths, ListPaths, Method, OperationAt, PathsWith } from './call-types.ts'
export { HookgateError } from './client-error.ts'
export type { EventsOptions, LiveMessage } from './live-events.ts'
export type { components, operations, paths } from './schema.ts'
export type { ClientOptions, InProcess, ServerAddress } from './send.ts'

/** Calls a path and returns its JSON. @throws HookgateError */
export type JsonCall<M extends Method> = <P extends JsonPaths<M>>(
  path: P,
  ...options: OptionsArgument<OperationAt<P, M>>
) => Promise<AnswerOf<OperationAt<P, M>>>

export interface HookgateClient {
  readonly get: JsonCall<'get'>
  readonly post: JsonCall<'post'>
  readonly put: JsonCall<'put'>
  readonly delete: JsonCall<'delete'>
  /** For answers that are not JSON, such as reports and exports, and to read headers. @throws HookgateError */
  response<M extends Method, P extends PathsWith<M>>(
    method: M,
    path: P,
    ...options: OptionsArgument<OperationAt<P, M>>
  ): Promise<Response>
  /** Yields the rows of a list. Each page is fetched when its first row is wanted. @throws HookgateError */
  list<P extends ListPaths>(path: P, ...options: OptionsArgument<OperationAt<P, 'get'>>): AsyncGenerator<ItemOf<P>>
  /** Yields requests as they end, and changes of state, until `signal` is aborted or the loop is left. @throws HookgateError */
  events(options?: EventsOptions): AsyncGenerator<LiveMessage>
  /** A call without types, for routes of your own plugins. @throws HookgateError */
  readonly send: Send
}

/** @throws TypeError when `baseURL` is no http address */
export function createClient(options: ClientOptions): HookgateClient {
  const send = sender(options)
  const json =
    (method: Method) =>
    async (path: string, call?: UntypedCall): Promise<unknown> =>
      (await send(method, path, call)).json()
  return {
    get: json('get') as JsonCall<'get'>,
    post: json('post') as JsonCall<'post'>,
    put: json('put') as JsonCall<'put'>,
    delete: json('delete') as JsonCall<'delete'>,
    response: (method, path, ...[call]) => send(method, path, call as UntypedCall | undefined),
    list: (path, ...[call]) => rows(send, path, (call ?? {}) as UntypedCall) as AsyncGenerator<never>,
    events: (given = {}) => liveEvents(send, { reconnect: !('gateway' in options), ...given }),
    send,
  }
}

interface Page {
  readonly data: readonly unknown[]
  readonly next_cursor?: string | null
}

async function* rows(send: Send, path: string, call: UntypedCall): AsyncGenerator<unknown> {
  let query = call.query ?? {}
  for (;;) {
    const page = (await (await send('get', path, { ...call, query })).json()) as Page
    yield* page.data
    if (page.next_cursor === undefined || page.next_cursor === null) return
    query = { ...query, cursor: page.next_cursor }
  }
}
