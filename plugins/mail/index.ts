// Sends mail: letters go to an outbox of sealed rows, and from there to a transactional e-mail API or, without a key, to the log.
import { v7 } from 'uuid'
import { z } from 'zod'
import { guardAddress, parsedAddress } from '../../core/config/addresses.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { domainOf, isMailbox, isSender } from './address.ts'
import { mailRoutes } from './api.ts'
import { Dispatcher } from './dispatcher.ts'
import { apiDriver, type Driver, logDriver } from './drivers.ts'
import { mailFacts, mailMetrics } from './facts.ts'
import { migrations } from './migrations.ts'
import type { Letter } from './service.ts'
import { insertLetter, type Lease, letterOf, letterPlace, prune } from './store.ts'

const HOUR_MS = 3_600_000
const API_URL = 'https://api.resend.com/emails'

/** Provides the service `mail`. */
export const mail = definePlugin({
  name: 'mail',
  requires: ['directCalls', 'outbound'],
  config: z.strictObject({
    /** Bearer key of the e-mail API; null: letters are logged. */
    apiKey: z.string().nullable().default(null),
    /** `gateway@example.com` or `Name <gateway@example.com>`. */
    from: z.string().nullable().default(null),
    publicUrl: z.string().nullable().default(null).meta({ env: 'PUBLIC_URL' }),
    port: z.int().min(0).max(65535).default(8788).meta({ env: 'PORT' }),
    outboundProxy: z.string().nullable().default(null).meta({ env: 'OUTBOUND_PROXY' }),
  }),
  settings: {
    /** Address of the e-mail API: POST of JSON in the shape of Resend, with a bearer key. */
    'email.api_url': z
      .url({ protocol: /^https?$/ })
      .max(500)
      .default(API_URL)
      .meta({ role: 'system' }),
  },
  variables: {
    EMAIL_API_KEY: {
      option: 'apiKey',
      type: 'secret',
      about: 'Key of the transactional e-mail API; without it letters are logged.',
    },
    EMAIL_FROM: { option: 'from', about: 'Sender of mail: `gateway@example.com` or `Name <gateway@example.com>`.' },
  },
  migrations,
  async setup(gateway, { apiKey, from, publicUrl, port, outboundProxy }) {
    const { db, clock, vault, log, settings } = gateway
    checkOptions(apiKey, from, publicUrl)
    const outbound = gateway.use('outbound')
    const url = (): string => {
      const address = parsedAddress(settings.get('email.api_url'), 'email.api_url', /^https?:$/, 'an http or https URL')
      // The operator chose it: only a metadata service is refused.
      guardAddress(address, 'email.api_url', { profile: 'local', outbound })
      return address.href
    }
    const driver: Driver =
      apiKey === null || from === null
        ? logDriver(log)
        : apiDriver({ apiKey, from, url, calls: gateway.use('directCalls'), now: () => clock.now(), proxyUrl: outboundProxy })
    const base = (publicUrl ?? `http://localhost:${port}`).replace(/\/+$/, '')
    const link = (path: string): string => base + path
    const attempted = mailMetrics(gateway)
    const dispatcher = new Dispatcher({ gateway, driver, link, attempted })

    const stored = async (letter: Letter, lease: Lease | null): Promise<string> => {
      if (!isMailbox(letter.to)) throw GatewayError.invalid('to', '`to` must be one e-mail address.')
      const at = clock.now()
      const id = v7({ msecs: at })
      const orgId = letter.orgId ?? 0
      await vault.prepare(letter.orgId)
      const sealed = await vault.seal(JSON.stringify(letter), letterPlace(id, orgId))
      await insertLetter(db, { id, orgId, kind: letter.kind, domain: domainOf(letter.to), sealed, at }, lease)
      return id
    }

    gateway.provide('mail', {
      delivers: driver.name === 'api',
      link,
      async send(letter) {
        try {
          // A route of one organization may send a letter of the gateway's own.
          await gateway.detached(() => stored(letter, null))()
          dispatcher.wake()
        } catch (error) {
          attempted('dead')
          log.error('mail.not_stored', { kind: letter.kind, error: String(error) })
        }
      },
    })
    mailRoutes({
      gateway,
      driver,
      from,
      async sendNow(letter) {
        const lease = dispatcher.lease()
        const id = await stored(letter, lease)
        const row = await letterOf(db, id)
        if (row === undefined) throw new Error('The letter was not stored.')
        return { id, attempt: await dispatcher.deliver(row, lease) }
      },
    })
    gateway.hook('ready', () => dispatcher.wake())
    gateway.every('prune', HOUR_MS, () => prune(db, clock.now()), { once: true })
    const silence = gateway.use('attention').contribute('mail', mailFacts(gateway))
    return async () => {
      silence()
      await dispatcher.close()
    }
  },
})

/** @throws Error naming the variable that is missing or wrong. */
function checkOptions(apiKey: string | null, from: string | null, publicUrl: string | null): void {
  if (from !== null && !isSender(from))
    throw new Error('GATEWAY_EMAIL_FROM: must be an address such as `gateway@example.com` or `Name <gateway@example.com>`.')
  if (apiKey === null) return
  if (from === null) throw new Error('GATEWAY_EMAIL_FROM: must be set with GATEWAY_EMAIL_API_KEY.')
  if (publicUrl === null)
    throw new Error('GATEWAY_PUBLIC_URL: must be set with GATEWAY_EMAIL_API_KEY, because letters hold links.')
}

export default mail
