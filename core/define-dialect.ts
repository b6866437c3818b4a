// Makes the driver of a dialect that only upstreams speak: the members for callers throw.
import type { DialectDriver } from './types/request/dialect.ts'

type CallerSide = 'routes' | 'decodeRequest' | 'encodeResponse' | 'encodeStream' | 'encodeError'
type ByteLane = 'spliceRequest' | 'inspectResponse' | 'filterStream'

/** The members that an upstream needs. Give `decodeStream` for server-sent events, or `decodeBytes` for any other stream. */
export type UpstreamDialect = Omit<DialectDriver, CallerSide | ByteLane | 'decodeStream'> &
  Partial<Pick<DialectDriver, 'decodeStream'>>

/** Returns a driver without routes: no caller speaks the dialect, so no request takes the byte lane. */
export function defineDialect(dialect: UpstreamDialect): DialectDriver {
  const none = (): never => {
    throw new Error(`The dialect \`${dialect.id}\` has no caller side.`)
  }
  return {
    decodeRequest: none,
    encodeResponse: none,
    encodeStream: none,
    encodeError: none,
    spliceRequest: none,
    inspectResponse: none,
    filterStream: none,
    decodeStream: none,
    ...dialect,
    routes: [],
  }
}
