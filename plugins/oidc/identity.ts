// Reads a person from claims: the e-mail address, whether its domain may sign in, and the memberships that groups map to.
import type { Services } from '../../core/types/plugin/plugin.ts'
import { refusal } from './refusal.ts'

export type ExternalIdentity = Parameters<Services['organizations']['signedInBy']>[0]
type Membership = NonNullable<ExternalIdentity['memberships']>[number]
type Claims = Readonly<Record<string, unknown>>

export interface IdentityRules {
  /** Empty: any domain. */
  readonly allowedDomains: readonly string[]
  /** The name of the claim, or a path of names with dots. */
  readonly groupsClaim: string
  /** null: groups are not read. */
  readonly groups: Readonly<Record<string, Membership>> | null
}

const MAX_EMAIL = 320
const MAX_NAME = 200

/** Returns whether the claims of the ID token lack something that the userinfo endpoint may have. */
export function incomplete(claims: Claims, { groups, groupsClaim }: IdentityRules): boolean {
  return claims.email === undefined || (groups !== null && claimAt(claims, groupsClaim) === undefined)
}

/** @throws GatewayError 403. */
export function identityOf(issuer: string, subject: string, claims: Claims, rules: IdentityRules): ExternalIdentity {
  const email = emailOf(claims.email)
  // Some issuers leave the claim out, others send it as text.
  if (claims.email_verified !== undefined && claims.email_verified !== true && claims.email_verified !== 'true')
    throw refusal('email_unverified')
  if (!domainAllowed(email, rules.allowedDomains)) throw refusal('domain_not_allowed')
  return { issuer, subject, email, name: nameOf(claims.name), memberships: membershipsOf(claims, rules) }
}

function emailOf(claim: unknown): string {
  const email = typeof claim === 'string' ? claim.trim().toLowerCase() : ''
  if (email.length > MAX_EMAIL || !/^[^\s\p{C}]+@[^\s\p{C}@]+$/u.test(email)) throw refusal('email_missing')
  return email
}

/** The domain is what follows the last `@`; an entry may begin with one. */
export function domainAllowed(email: string, allowed: readonly string[]): boolean {
  const domains = allowed.map((entry) => entry.trim().replace(/^@/, '').toLowerCase()).filter((entry) => entry !== '')
  return domains.length === 0 ? allowed.length === 0 : domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase())
}

function nameOf(claim: unknown): string | null {
  const name = typeof claim === 'string' ? claim.replace(/[\p{C}\s]+/gu, ' ').trim() : ''
  return name === '' ? null : [...name].slice(0, MAX_NAME).join('')
}

const RANK = { member: 1, admin: 2, owner: 3 } as const

/** Several groups of one organization give the highest of their roles. Without the claim there are no groups. */
function membershipsOf(claims: Claims, { groups, groupsClaim }: IdentityRules): Membership[] | null {
  if (groups === null) return null
  const claim = claimAt(claims, groupsClaim)
  // A large list is replaced by a reference to another service. To ignore it would end memberships.
  if (claim === undefined && claimAt(claims, '_claim_names') !== undefined) throw refusal('too_many_groups')
  const highest = new Map<string, Membership>()
  for (const group of Array.isArray(claim) ? claim : [claim]) {
    if (typeof group !== 'string' || !Object.hasOwn(groups, group)) continue
    const found = groups[group] as Membership
    const known = highest.get(found.organization)
    if (known === undefined || RANK[found.role] > RANK[known.role]) highest.set(found.organization, found)
  }
  return [...highest.values()]
}

function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name.split('.').reduce<unknown>((at, part) => {
    return typeof at === 'object' && at !== null && Object.hasOwn(at, part) ? (at as Claims)[part] : undefined
  }, claims)
}
