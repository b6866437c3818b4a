// The rules of an estimate, and its result.
import type { Services } from '../../../core/types/plugin/plugin.ts'
import type { DialectsOf } from './calls.ts'
import type { ToolShares } from './server-tools.ts'

export interface Estimate {
  /** Nano-USD. */
  readonly nano: number
  /** The part that is always reserved, also under a small limit: for a prompt of unknown size, or tools at the vendor. */
  readonly leastNano: number
  /** True when the caller limited the answer. */
  readonly explicit: boolean
}

export interface EstimateRules {
  /** For a prompt of unknown size: reserve the model's whole context window, or refuse the request. */
  readonly unknownPrompt: 'reserve' | 'refuse'
  readonly serverTools: ToolShares
  readonly dialectsOf: DialectsOf
  readonly operations: Services['operations']
  connections(): Pick<Services['connections'], 'list' | 'shared'> | undefined
  prices(): Services['prices'] | undefined
}
