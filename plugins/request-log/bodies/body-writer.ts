// Prepares and seals bodies for the database, outside the request path. Under pressure bodies are dropped first.
import { BatchWriter } from '../../../core/db/batch-writer.ts'
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { insertBodies, type SealedBodies } from '../body-store.ts'
import type { Answer } from './capture.ts'
import { type KeptText, keptText } from './kept-text.ts'
import { mediaNote } from './media.ts'

export interface Bodies {
  readonly requestId: string
  readonly orgId: number | null
  /** Epoch ms. */
  readonly at: number
  readonly request: Uint8Array | null
  readonly answer: Answer | null
}

const AT_ONCE = 50
const MAX_QUEUED = 1000
const MAX_QUEUED_BYTES = 32 << 20
/** After a body of this size, other requests get a turn. */
const LARGE = 65_536

export function bodyWriter(gateway: PluginGateway, db: Db, maxBytes: number): BatchWriter<Bodies> {
  return new BatchWriter<Bodies>({
    name: 'log of bodies',
    clock: gateway.clock,
    log: gateway.log,
    detached: gateway.detached,
    maxRows: AT_ONCE,
    maxQueuedRows: MAX_QUEUED,
    maxQueuedBytes: MAX_QUEUED_BYTES,
    async write(all) {
      const rows: SealedBodies[] = []
      for (const bodies of all) {
        if (sizeOf(bodies) > LARGE) await new Promise<void>((resolve) => setImmediate(resolve))
        rows.push(await sealedBodies(gateway, bodies, maxBytes))
      }
      await insertBodies(db, rows)
    },
  })
}

export function sizeOf({ request, answer }: Bodies): number {
  const held = answer === null ? 0 : answer.kind === 'stream' ? 2 * answer.assembly.size : answer.body.length
  return (request?.length ?? 0) + held
}

async function sealedBodies({ vault }: PluginGateway, bodies: Bodies, maxBytes: number): Promise<SealedBodies> {
  const { requestId, orgId, at } = bodies
  const request = bodies.request === null ? null : keptText(decodeUtf8(bodies.request), maxBytes)
  const answer = bodies.answer === null ? null : keptAnswer(bodies.answer, maxBytes)
  const sealed = (kept: KeptText | null, column: BodyColumn) =>
    kept === null ? null : vault.seal(kept.text, bodyPlace(requestId, orgId, column))
  return {
    request_id: requestId,
    org_id: orgId ?? 0,
    created_at: at,
    request_sealed: await sealed(request, 'request_sealed'),
    response_sealed: await sealed(answer, 'response_sealed'),
    request_truncated: request?.truncated ? 1 : 0,
    response_truncated: answer?.truncated ? 1 : 0,
  }
}

type BodyColumn = 'request_sealed' | 'response_sealed'

/** Bound into the sealed value: a body that was moved to another row does not open there. */
export function bodyPlace(requestId: string, orgId: number | null, column: BodyColumn) {
  return { table: 'request_log_bodies', id: requestId, column, orgId }
}

function keptAnswer(answer: Answer, maxBytes: number): KeptText {
  if (answer.kind === 'stream') {
    const { json, truncated } = answer.assembly.message()
    const kept = keptText(json, maxBytes)
    return { text: kept.text, truncated: kept.truncated || truncated }
  }
  const { body, type } = answer
  if (/^(?:application\/(?:[\w.+-]+\+)?json|text\/)/i.test(type)) return keptText(decodeUtf8(body), maxBytes)
  return { text: mediaNote(body.length, type.split(';')[0] || null), truncated: false }
}
