// Turns the tokens of a finished sign-in into a connection, or gives them to the connection that the same account already has.
import { lock } from '../../core/db/lock.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { OAuthClient } from './clients.ts'
import { identityOf } from './identity.ts'
import { type AccountRow, sameAccount, storeSignIn, type TokenSealer } from './store.ts'
import type { TokenKeeper } from './tokens.ts'
import type { TokenAnswer, Vendor } from './vendor.ts'

export interface SignInParts {
  readonly gateway: Pick<PluginGateway, 'db' | 'clock' | 'optional'>
  readonly accounts: Services['accounts']
  readonly vendor: Vendor
  readonly sealer: TokenSealer
  readonly keeper: TokenKeeper
  /** Runs a change of the accounts such that all processes see it. */
  write<R>(change: (db: PluginGateway['db']) => Promise<R>): Promise<R>
}

export type SignIn = (orgId: number, provider: string, client: OAuthClient, answer: TokenAnswer) => Promise<number>

export function signInOf({ gateway, accounts, vendor, sealer, keeper, write }: SignInParts): SignIn {
  const { db, clock } = gateway
  const accountState = gateway.optional('accountState')
  const running = new Map<string, Promise<unknown>>()

  /** Returns the id of the connection. */
  const signIn: SignIn = async (orgId, provider, client, answer) => {
    const identity = await identityOf(vendor, client, answer)
    const tokens = { access: answer.access_token, refresh: answer.refresh_token ?? null, previous: null }
    const now = clock.now()
    const given = {
      orgId,
      provider,
      identity,
      scopes: answer.scope?.split(' ').filter(Boolean) ?? client.scopes,
      expiresAt: answer.expires_in === undefined ? null : now + Math.round(answer.expires_in * 1000),
      now,
    }
    await sealer.prepare(orgId)
    const found = await sameAccount(db, orgId, provider, identity)
    const before = await usable(found)
    if (before !== undefined) {
      const id = before.connection_id
      const sealed = await sealer.seal(tokens, id, orgId)
      await write((inside) => storeSignIn(inside, { ...given, connectionId: id, sealed }))
      keeper.forget(String(id))
      accountState()?.clear(String(id))
      return id
    }
    const label = identity.email ?? identity.displayName ?? client.name ?? provider
    const connection = {
      orgId: orgId === 0 ? null : orgId,
      provider,
      label,
      baseUrl: client.baseUrl ?? null,
      wireFormat: client.wireFormat ?? null,
    }
    try {
      const id = await accounts.signedIn(connection, async (inside, made) => {
        await lock(inside, `oauth-accounts ${orgId} ${provider}`)
        const latest = await sameAccount(inside, orgId, provider, identity)
        if (latest?.connection_id !== found?.connection_id) throw new SignedInElsewhere()
        await storeSignIn(inside, { ...given, connectionId: made, sealed: await sealer.seal(tokens, made, orgId) })
      })
      await write(async () => {})
      return id
    } catch (error) {
      if (error instanceof SignedInElsewhere) return signIn(orgId, provider, client, answer)
      throw error
    }
  }

  /** A connection that was removed has a row until the next clean-up. One that another replica has just made is not in the list yet. */
  async function usable(row: AccountRow | undefined): Promise<AccountRow | undefined> {
    if (row === undefined) return undefined
    const isListed = () => accounts.list().some(({ connection }) => connection.id === String(row.connection_id))
    if (!isListed()) await accounts.refresh()
    return isListed() ? row : undefined
  }

  // Within one process, sign-ins wait for each other. Between replicas, the transaction of the second one finds the row of the first.
  return async (orgId, provider, client, answer) => {
    const key = `${orgId} ${provider}`
    const one = (running.get(key) ?? Promise.resolve()).catch(() => {}).then(() => signIn(orgId, provider, client, answer))
    running.set(key, one)
    try {
      return await one
    } finally {
      if (running.get(key) === one) running.delete(key)
    }
  }
}

/** Another replica made the connection of this account meanwhile. */
class SignedInElsewhere extends Error {}
