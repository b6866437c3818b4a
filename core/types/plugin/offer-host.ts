// Type of the gateway's parts that exist before any plugin is set up.
import type { $Fetch } from 'ofetch'
import type { Clock, Logger } from '../ports/ports.ts'

/** Parts of the gateway that exist before the first setup. */
export interface OfferHost {
  readonly profile: 'local' | 'cloud'
  readonly clock: Clock
  readonly log: Logger
  /** HTTP to public addresses only, as `gateway.http`. */
  readonly http: $Fetch
  /** HTTP to addresses that the operator configured, as `gateway.internalHttp`. */
  readonly internalHttp: $Fetch
}
