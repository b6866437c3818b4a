// Types of a control-plane caller.

/** `member` reads, `manage` administers one organization, `owner` may also delete or transfer it, `system` administers the gateway. */
export type Role = 'public' | 'member' | 'manage' | 'owner' | 'system'

export interface Operator {
  /** The name for audit and logs: `local`, `cli`, `token:3`, a user id. */
  readonly actor: string
  readonly orgId: number | null
  readonly role: Exclude<Role, 'public'>
  /** May call GET routes only. */
  readonly readOnly: boolean
  /** How the caller was authenticated. */
  readonly auth: 'open' | 'password' | 'token' | 'host' | 'oidc'
  /** The person behind a session in multi-tenant mode. */
  readonly userId?: number
}
