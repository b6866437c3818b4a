// /api/audit: read, verify, export. One chain covers the whole gateway, so only the system role may verify and export; others read the
// entries of their organization.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { inOrder, NOT_IN_ORDER } from '../../core/http/window.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { exportLine, type Link } from './chain.ts'
import { chainState, linksAfter, moveExportCursor, newestLinks } from './store.ts'
import { verifyChain } from './verify.ts'

const whole = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)
const count = (most: number, usual: number) =>
  whole.pipe(z.number().min(1, 'must be at least 1').max(most, `must be at most ${most}`)).default(usual)
const instant = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 time such as 2027-01-31T00:00:00Z' })
  .transform((text) => Date.parse(text))
const word = z.string().min(1, 'must not be empty').max(200)

const entryRecord = z.strictObject({
  seq: z.int(),
  org_id: z.int().nullable(),
  at: z.string(),
  actor: z.string(),
  action: z.string(),
  target: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  ip: z.string().nullable(),
  prev_hash: z.string(),
  hash: z.string(),
})
const chainReport = z.strictObject({
  ok: z.boolean(),
  from_seq: z.int().nullable(),
  to_seq: z.int().nullable(),
  first_bad_seq: z.int().nullable(),
  anchor_seq: z.int().nullable(),
})

export function auditRoutes(gateway: PluginGateway): void {
  const { db } = gateway

  gateway.api({
    method: 'GET',
    path: '/api/audit',
    summary: 'Audit entries, newest first.',
    role: 'manage',
    query: z
      .strictObject({
        cursor: whole.optional().describe('`next_cursor` of the page before.'),
        limit: count(200, 50),
        action: word.optional(),
        actor: word.optional(),
        since: instant.optional(),
        until: instant.optional().describe('Not included.'),
      })
      .refine(inOrder, NOT_IN_ORDER),
    response: z.strictObject({ data: z.array(entryRecord), next_cursor: z.string().nullable() }),
    async handler({ query: { cursor, limit, ...filter }, orgId }) {
      const links = await newestLinks(db, orgId, { ...filter, before: cursor }, limit + 1)
      const page = links.slice(0, limit)
      return { data: page.map(recordOf), next_cursor: links.length > limit ? String(page.at(-1)?.seq) : null }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/audit/verify',
    summary: 'Walks the whole chain; names the first entry that was altered or is missing.',
    role: 'system',
    response: chainReport,
    handler: () => verifyChain(db),
  })

  gateway.api({
    method: 'GET',
    path: '/api/audit/export',
    summary: 'Audit entries as JSON lines, oldest first, from behind `after_seq` or what was acknowledged last.',
    role: 'system',
    query: z.strictObject({ after_seq: whole.optional(), limit: count(5000, 1000) }),
    async handler({ query: { after_seq, limit } }) {
      const links = await linksAfter(db, after_seq ?? (await chainState(db)).exported_seq, limit)
      return new Response(links.map(exportLine).join(''), {
        headers: {
          'content-type': 'application/x-ndjson',
          'content-disposition': 'attachment; filename="audit.jsonl"',
        },
      })
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/audit/export/ack',
    summary: 'Says that everything up to `seq` is kept elsewhere: retention may take it away. Never moves back.',
    role: 'system',
    body: z.strictObject({ seq: z.int('must be a whole number').min(0, 'must not be negative') }),
    response: z.strictObject({ exported_seq: z.int() }),
    audit: 'export',
    async handler({ body: { seq }, audited }) {
      const { head_seq } = await chainState(db)
      if (seq > head_seq) throw GatewayError.invalid('seq', `\`seq\`: the last entry is ${head_seq}.`)
      await moveExportCursor(db, seq)
      audited(seq)
      return { exported_seq: (await chainState(db)).exported_seq }
    },
  })
}

function recordOf(link: Link): z.input<typeof entryRecord> {
  return {
    ...link,
    org_id: link.org_id === 0 ? null : link.org_id,
    at: new Date(link.at).toISOString(),
    details: detailsOf(link),
  }
}

/** A chain with altered entries stays readable. */
function detailsOf({ details }: Link): Record<string, unknown> {
  try {
    return JSON.parse(details) as Record<string, unknown>
  } catch {
    return { unreadable: true }
  }
}
