// Type of the service `accountPolicy`: which accounts the policy keeps requests away from.
import type { Connection } from '../../core/types/ports/provider.ts'

export interface AccountPolicyService {
  /** Returns true when the policy blocks the account now. */
  blocks(connection: Connection): boolean
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    accountPolicy: AccountPolicyService
  }
}
