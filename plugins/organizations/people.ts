// Shared by the routes: the directory, the writes that change it, and the letters that go out after an answer.
import { randomId } from '../../core/ids/ids.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { BelongsTo, Db, View } from '../../core/types/ports/db.ts'
import type { Peer } from '../../core/types/ports/ports.ts'
import { type Directory, type DirectoryRules, directoryOf, loadRows, type Rows } from './directory.ts'
import type { Letters } from './letters.ts'
import { insertToken, type TokenKind } from './users.ts'

const HOUR_MS = 3_600_000
const LIFETIME_MS: Record<TokenKind, number> = { verify: 24 * HOUR_MS, reset: HOUR_MS }
/** 43 base-62 characters have 256 bits. */
const TOKEN_LENGTH = 43

export interface People {
  readonly gateway: PluginGateway
  readonly signIn: Services['signIn']
  readonly letters: Letters
  /** The rows for reconciliation. */
  readonly view: View<unknown>
  directory(): Directory
  /** The plugin that exports rows; undefined: there is none. */
  exported(): Services['transfer'] | undefined
  /** Tables of all plugins whose rows belong to the organization of another row. */
  belonging(): Readonly<Record<string, BelongsTo>>
  /** Runs one transaction. When it resolves, this process has the change in memory. */
  write<T>(change: (db: Db) => Promise<T>): Promise<T>
  now(): number
  /** A new one-time token and its stored form. */
  token(): { token: string; mac: string }
  mac(token: string): string
  /** Stores a one-time token of a user and returns it. */
  oneTime(kind: TokenKind, userId: number): Promise<string>
  /** Writes an audit entry for a route that knows the person or the organization only after its work. */
  record(entry: {
    orgId: number | null
    actor: string
    action: string
    target: string | null
    details?: Record<string, unknown>
    peer: Peer
  }): Promise<void>
  /** Starts work after the answer, so that its duration tells a caller nothing. A failure is logged. */
  later(work: () => Promise<void>): void
  /** Resolves when no such work runs. */
  settled(): Promise<void>
}

export async function people(gateway: PluginGateway, letters: Letters, adminEmails: ReadonlySet<string>): Promise<People> {
  const { db, clock, vault } = gateway
  const audit = gateway.use('audit')
  const plugins = gateway.use('plugins')
  const view = await gateway.view<Rows>('people', loadRows)
  const rules: DirectoryRules = { adminEmails, verificationNeeded: letters.delivers }
  let delivers = letters.delivers()
  let directory = directoryOf(view.current, rules)
  view.watch((rows) => {
    directory = directoryOf(rows, rules)
  })
  const running = new Set<Promise<void>>()
  const mac = (token: string): string => vault.mac('one-time-token', token)
  const token = () => {
    const made = randomId('', TOKEN_LENGTH)
    return { token: made, mac: mac(made) }
  }
  return {
    gateway,
    signIn: gateway.use('signIn'),
    letters,
    view,
    exported: gateway.optional('transfer'),
    directory() {
      // The plugin `mail` may be set up later than this one.
      if (delivers !== letters.delivers()) {
        delivers = letters.delivers()
        directory = directoryOf(view.current, rules)
      }
      return directory
    },
    belonging: () => plugins.belonging(),
    // People and their memberships cross organizations: a person of one accepts the invitation of another.
    write: (change) => gateway.detached(() => view.write(change))(),
    now: () => clock.now(),
    token,
    mac,
    async oneTime(kind, userId) {
      const made = token()
      const stored = gateway.detached(() =>
        db.tx((tx) => insertToken(tx, kind, made.mac, userId, clock.now() + LIFETIME_MS[kind])),
      )
      await stored()
      return made.token
    },
    record: ({ orgId, actor, action, target, details = {}, peer }) =>
      audit.append({ orgId, actor, action, target, details, ip: peer.address }),
    later(work) {
      const job = new Promise((resolve) => setImmediate(resolve))
        .then(gateway.detached(work))
        .catch((error: unknown) => gateway.log.error('organizations.letter_failed', { error }))
        .finally(() => running.delete(job))
      running.add(job)
    },
    async settled() {
      await Promise.all(running)
    },
  }
}
