// The envelope of an event. Its bytes are made once: retries and redeliveries send the same.
import { v7 } from 'uuid'

export interface Envelope {
  /** `evt_<uuidv7>`. */
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly api_version: 'v1'
  readonly org_id: number | null
  readonly data: Readonly<Record<string, unknown>>
}

export function envelopeOf(
  { type, orgId, data }: { type: string; orgId: number | null; data: Readonly<Record<string, unknown>> },
  at: number,
): Envelope {
  return { id: `evt_${v7({ msecs: at })}`, type, created_at: new Date(at).toISOString(), api_version: 'v1', org_id: orgId, data }
}

export const deliveryId = (at: number): string => `dlv_${v7({ msecs: at })}`
