// Protects the control plane: a password for people, tokens for tools. Without either, callers on this machine have access.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Operator } from '../../core/types/operator.ts'
import { signInRoutes } from './api.ts'
import { jwtSecret } from './jwt-secret.ts'
import { methodsRoute } from './methods.ts'
import { migrations } from './migrations.ts'
import { operatorService } from './operators.ts'
import { passwordCheck, passwords } from './password.ts'
import { refused } from './refusal.ts'
import type { AccountSource, SignInService } from './service.ts'
import { passwordVersionOf, sessions } from './session.ts'
import { activeTokens, endedSessions, forgetExpired } from './store.ts'
import { forwardedAddress, throttle } from './throttle.ts'
import { tokenRoutes } from './token-api.ts'
import { tokens } from './tokens.ts'

const HOUR_MS = 3_600_000

const text = z.string().nullable().default(null)

export const signIn = definePlugin({
  name: 'sign-in',
  requires: ['audit'],
  config: z.strictObject({
    /** Argon2 in PHC form; `hookgate password hash` generates one. null: local clients have access. */
    passwordHash: text,
    /** The key for session tokens, at least 32 bytes; null: derived from the master key. */
    jwtSecret: text,
    multiTenant: z.boolean().default(false),
    idpClientId: text.meta({ env: 'IDP_CLIENT_ID' }),
    idpClientSecret: text.meta({ env: 'IDP_CLIENT_SECRET' }),
  }),
  variables: {
    MULTI_TENANT: {
      option: 'multiTenant',
      about: 'Multi-tenant mode: people sign up, and organizations do not see each other. It disables the dashboard password.',
    },
    DASHBOARD_PASSWORD_HASH: { option: 'passwordHash', type: 'secret', about: 'Argon2 PHC hash of the dashboard password.' },
    JWT_SECRET: {
      option: 'jwtSecret',
      type: 'secret',
      about: 'Secret of session tokens; derived from the master key when unset.',
    },
  },
  migrations,
  async setup(gateway, config) {
    const { vault, clock, db } = gateway
    const { passwordHash, multiTenant } = config
    const mac = (token: string): string => vault.mac('management-token', token)
    const checkPassword = passwordHash === null ? null : await passwordCheck(passwordHash)
    const secret = config.jwtSecret === null ? vault.subkey('jwt-session-v1') : jwtSecret(config.jwtSecret)

    const ended = await gateway.view('ended', endedSessions)
    const living = await gateway.view('tokens', async (db) => new Map((await activeTokens(db)).map((row) => [row.mac, row])))
    const required = passwordHash !== null || multiTenant
    const idpOnly = multiTenant && config.idpClientId !== null && config.idpClientSecret !== null
    const tenantRoute = idpOnly ? 'GET /api/auth/oidc/start in a browser' : 'POST /api/auth/login'
    const signInRoute = multiTenant ? tenantRoute : undefined
    const owner: Operator = {
      actor: 'local',
      orgId: null,
      role: 'system',
      readOnly: false,
      auth: required ? 'password' : 'open',
    }
    let accounts: AccountSource | null = null
    const signedIn = sessions({
      secret,
      clock,
      // Tenants have their own sessions.
      passwordVersion: multiTenant ? null : await passwordVersionOf(passwordHash),
      owner,
      accounts: () => accounts,
      ended: (jti) => ended.current.has(jti),
    })
    const known = tokens(
      gateway,
      mac,
      () => living.current,
      () => accounts,
    )
    const attempts = throttle(gateway.counters, clock)

    gateway.provide('operators', operatorService({ owner, open: !required, signInRoute, sessions: signedIn, tokens: known }))
    const service: SignInService = {
      required,
      multiTenant,
      idpOnly,
      accounts(source) {
        accounts = source
      },
      issue: (account, auth) => signedIn.issueFor(account, auth),
      attempts,
      passwords: passwords(),
      addressOf: forwardedAddress,
      refused,
    }
    gateway.provide('signIn', service)
    signInRoutes({
      gateway,
      sessions: signedIn,
      ended,
      checkPassword,
      multiTenant,
      idpEnabled: idpOnly,
      attempts,
      profile: (operator) => accounts?.profile(operator) ?? { user: null, org: null, orgs: [] },
    })
    methodsRoute(gateway, service)
    tokenRoutes(gateway, living, mac)
    gateway.every('forget-ended-sessions', HOUR_MS, () => forgetExpired(db, clock.now()), { once: true })
    return () => known.close()
  },
})

export default signIn
