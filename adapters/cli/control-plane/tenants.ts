// Finds organizations and people for `hookgate org`, `user` and `signup`.

import { CommandFailure } from '../fail.ts'
import { type ControlPlane, type Place, readControlPlane, withControlPlane } from './control-plane.ts'

export interface Organization {
  id: number
  name: string
  suspended: boolean
  members: number
  created_at: string
  managed_by: string
}

export interface User {
  id: number
  email: string
  name: string | null
  email_verified: boolean
  system_admin: boolean
  disabled: boolean
  orgs: { id: number; name: string; role: string }[]
}

/** @throws CommandFailure when the gateway has no tenants. */
export function withTenants<T>(place: Place, work: (plane: ControlPlane) => Promise<T>): Promise<T> {
  return withControlPlane(place, work).catch(explained)
}

export function readTenants<T>(place: Place, work: (plane: ControlPlane) => Promise<T>): Promise<T> {
  return readControlPlane(place, work).catch(explained)
}

function explained(error: unknown): never {
  if (!(error instanceof Error) || !/no plugin that answers \w+ \/api\/(?:orgs|users)\b/.test(error.message)) throw error
  throw new CommandFailure({
    what: 'This gateway has no organizations.',
    why: 'It runs in single-user mode.',
    fix: 'Set GATEWAY_MULTI_TENANT=true for the server and for this command.',
  })
}

/** Finds by number or address. @throws CommandFailure */
export async function userOf({ call }: ControlPlane, text: string): Promise<User> {
  const { data } = await call<{ data: User[] }>('GET', '/api/users')
  const found = data.find(({ id, email }) => String(id) === text || email === text.trim().toLowerCase())
  if (found !== undefined) return found
  throw new CommandFailure({
    what: `There is no account \`${text.slice(0, 100)}\`.`,
    why: 'An account is named by its number or its e-mail address.',
    fix: 'hookgate user list',
  })
}

/** Finds by number, or by name when only one has it. @throws CommandFailure */
export async function organizationOf({ call }: ControlPlane, text: string): Promise<Organization> {
  const { data } = await call<{ data: Organization[] }>('GET', '/api/orgs')
  const numbered = data.find(({ id }) => String(id) === text)
  const named = data.filter(({ name }) => name === text)
  const found = numbered ?? (named.length === 1 ? named[0] : undefined)
  if (found !== undefined) return found
  throw new CommandFailure({
    what:
      named.length > 1 ? `${named.length} organizations have this name.` : `There is no organization \`${text.slice(0, 100)}\`.`,
    why: 'An organization is named by its number, or by a name that no other one has.',
    fix: 'hookgate org list',
  })
}
