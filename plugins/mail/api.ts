// GET /api/mail and POST /api/mail/test: the state of outgoing mail, without links and texts.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { isMailbox } from './address.ts'
import type { Attempt, Driver } from './drivers.ts'
import type { Letter } from './service.ts'
import { failures, type LetterRow, summary } from './store.ts'

const DAY_MS = 86_400_000
const SHOWN = 50

const failure = z.strictObject({
  id: z.string(),
  org_id: z.int().nullable(),
  kind: z.string(),
  to_domain: z.string().describe('The domain of the recipient.'),
  state: z.enum(['waiting', 'dead']),
  attempts: z.int(),
  status: z.int().nullable().describe('HTTP status of the last answer; null: there was none.'),
  error: z.string().nullable(),
  created_at: z.string(),
  next_attempt_at: z.string().nullable(),
})

const state = z.strictObject({
  driver: z.enum(['api', 'log']).describe('`log`: no e-mail key is set, letters are logged.'),
  from: z.string().nullable(),
  waiting: z.int(),
  oldest_waiting_at: z.string().nullable(),
  sent_24h: z.int(),
  dead_24h: z.int(),
  failures: z.array(failure).describe('The newest letters whose last attempt failed, at most 50.'),
})

const tested = z.strictObject({
  id: z.string(),
  driver: z.enum(['api', 'log']),
  sent: z.boolean().describe('True: the e-mail API took the letter, or it is in the log.'),
  status: z.int().nullable(),
  error: z.string().nullable(),
})

export interface MailRoutes {
  readonly gateway: PluginGateway
  readonly driver: Driver
  readonly from: string | null
  /** Stores a letter and delivers it at once. */
  sendNow(letter: Letter): Promise<{ id: string; attempt: Attempt }>
}

export function mailRoutes({ gateway, driver, from, sendNow }: MailRoutes): void {
  const { db, clock } = gateway

  gateway.api({
    method: 'GET',
    path: '/api/mail',
    summary: 'The state of outgoing mail and the last failures, without links and texts.',
    role: 'system',
    response: state,
    async handler() {
      const counts = await summary(db, clock.now() - DAY_MS)
      return {
        driver: driver.name,
        from,
        waiting: counts.waiting,
        oldest_waiting_at: time(counts.oldest),
        sent_24h: counts.sent,
        dead_24h: counts.dead,
        failures: (await failures(db, SHOWN)).map(failureOf),
      }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/mail/test',
    summary: 'Sends a test letter and returns what the e-mail API answered.',
    role: 'system',
    body: z.strictObject({ to: z.string().trim().refine(isMailbox, 'must be one e-mail address') }),
    response: tested,
    audit: 'mail.test',
    async handler({ body, audited }) {
      audited('test')
      const { id, attempt } = await sendNow({
        to: body.to,
        orgId: null,
        kind: 'test',
        subject: 'Test of the gateway’s mail',
        heading: 'Mail works',
        paragraphs: ['An administrator of this gateway sent this letter to test its mail.'],
        action: { label: 'Open the gateway', path: '/' },
      }).catch((error: unknown) => {
        throw GatewayError.is(error) ? error : GatewayError.unavailable('The gateway is closing. Try again.')
      })
      return { id, driver: driver.name, sent: attempt.result === 'sent', status: attempt.status, error: attempt.error }
    },
  })
}

function failureOf(row: LetterRow): z.input<typeof failure> {
  return {
    id: row.id,
    org_id: row.org_id === 0 ? null : row.org_id,
    kind: row.kind,
    to_domain: row.domain,
    state: row.status === 'dead' ? 'dead' : 'waiting',
    attempts: row.attempts,
    status: row.last_status,
    error: row.last_error,
    created_at: new Date(row.created_at).toISOString(),
    next_attempt_at: row.status === 'dead' ? null : time(row.next_attempt_at),
  }
}

function time(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
