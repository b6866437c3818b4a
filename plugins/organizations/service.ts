// Types of the service `organizations`: tenants, people and their roles. All look-ups read memory.
import type { Peer } from '../../core/types/ports/ports.ts'

/** A role in one organization. `owner` may also transfer and delete it. */
export type OrgRole = 'member' | 'admin' | 'owner'

export interface Organization {
  /** 1 or more. 0 (null in code) is the gateway's own organization. */
  readonly id: number
  readonly name: string
  /** A suspended organization can sign in and read, but its keys are refused. */
  readonly suspended: boolean
}

export interface User {
  readonly id: number
  /** Lower case. */
  readonly email: string
  readonly name: string | null
  readonly emailVerified: boolean
  readonly systemAdmin: boolean
  readonly disabled: boolean
}

export interface Membership {
  readonly orgId: number
  readonly userId: number
  readonly role: OrgRole
}

/** A person whom an identity provider vouches for. */
export interface ExternalIdentity {
  readonly issuer: string
  readonly subject: string
  /** Verified by the identity provider. */
  readonly email: string
  readonly name: string | null
  /** Memberships that the provider's groups map to; null: no mapping is configured, memberships stay as they are. */
  readonly memberships: readonly { readonly organization: string; readonly role: OrgRole }[] | null
}

export interface OrganizationService {
  find(orgId: number): Organization | undefined
  all(): readonly Organization[]
  user(userId: number): User | undefined
  /** The comparison ignores case. */
  userByEmail(email: string): User | undefined
  membership(userId: number, orgId: number): Membership | undefined
  membershipsOf(userId: number): readonly Membership[]
  members(orgId: number): readonly Membership[]
  /**
   * Returns whether the person behind a client key has a verified address: the user who made the key, otherwise the organization's owner.
   * True for the gateway's own organization.
   */
  emailVerified(orgId: number | null, keyId: number | null): boolean
  /**
   * Finds or creates the user: by issuer and subject, otherwise by verified address. Writes audit entries for what it changed.
   * @throws GatewayError 403 for a disabled user
   */
  signedInBy(identity: ExternalIdentity, peer: Peer): Promise<{ userId: number; orgId: number | null }>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    organizations: OrganizationService
  }
}
