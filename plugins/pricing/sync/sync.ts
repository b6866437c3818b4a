// Runs a sync: fetches the primary source, or the fallback when that fails, and merges the result over known prices. One process runs at
// a time; the others follow the view.
import { guardAddress } from '../../../core/config/addresses.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { AuditLog, DirectCalls } from '../../../core/services.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Db, View } from '../../../core/types/ports/db.ts'
import type { OutboundGuard } from '../../../core/types/ports/ports.ts'
import { CARD_SOURCES, type CardSource, type Drift, expired, merged } from '../book.ts'
import type { ParsedCard } from '../cards/card.ts'
import { fallbackCard } from '../cards/fallback-card.ts'
import { usdOf } from '../cards/price-names.ts'
import { primaryCard } from '../cards/primary-card.ts'
import { percentMoved } from '../decimal.ts'
import {
  cardRun,
  claimRun,
  finishRun,
  insertDrifts,
  pruneRuns,
  type RunRow,
  type Stored,
  storeBook,
  storeSource,
} from '../store.ts'

export interface SyncOptions {
  readonly urls: Readonly<Record<CardSource, string>>
  /** Stored with the primary source's prices. */
  readonly ref: string | null
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly driftPct: number
  readonly proxyUrl: string | null
}

export interface Syncer {
  /** Returns null when another process is running a sync, or has just done so. Two concurrent calls share one run. */
  run(reason: RunRow['reason'], signal: AbortSignal): Promise<RunRow | null>
  /** Longest duration of a run, ms. */
  readonly leaseMs: number
}

// One fetch of a rate card: limited in time and size, conditional, and accepted only with prices.
const MAX_BYTES = 64 * 1024 * 1024
/** A public card has thousands of models. */
const LEAST_OF_PUBLIC = 100
const ETAG = /^[\x21-\x7e]{1,256}$/

interface CardRequest {
  readonly url: string
  readonly timeoutMs: number
  readonly proxyUrl: string | null
  /** ETag of the stored card. */
  readonly etag: string | null
  readonly signal: AbortSignal
  parse(json: unknown): ParsedCard
}

interface FetchedCard extends ParsedCard {
  readonly etag: string | null
}

/** Hosts of the public cards. A small answer from them is not the card. */
const PUBLIC_HOSTS = ['raw.githubusercontent.com', 'models.dev']

const REF = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/

/** Returns the URL with the version reference. @throws Error naming the wrong variable. */
export function sourceUrl(variable: string, template: string, ref: string, outbound: OutboundGuard): string {
  if (template.includes('{ref}') && (!REF.test(ref) || ref.includes('..')))
    throw new Error('GATEWAY_PRICING_SYNC_REF: a tag, branch or commit, in letters, digits and `._/-`.')
  const text = template.replaceAll('{ref}', ref)
  if (!URL.canParse(text)) throw new Error(`${variable}: the value is not a URL.`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw new Error(`${variable}: the URL must not hold credentials.`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPrivateHost(url.hostname)))
    throw new Error(`${variable}: must be an https URL, or http to a host in the own network.`)
  try {
    guardAddress(url, variable, { profile: 'local', outbound })
  } catch (error) {
    throw new Error(`${variable}: ${GatewayError.from(error).message}`)
  }
  return url.href
}

const PRIVATE = /^(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+$/

function isPrivateHost(host: string): boolean {
  if (isLoopback(host) || PRIVATE.test(host) || /^\[f[cd]/.test(host)) return true
  return /\.(?:local|internal|lan)$/.test(host) || /^[a-z0-9-]+$/.test(host)
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(host) || host === '[::1]'
}

/** Returns null when the card has not changed. @throws Error with the reason, without addresses. */
async function fetchCard(calls: DirectCalls, request: CardRequest): Promise<FetchedCard | null> {
  const { url, timeoutMs, proxyUrl, etag, signal, parse } = request
  const headers = etag === null ? [] : ['if-none-match', etag]
  const { status, headers: said, body } = await calls.viaProxy(proxyUrl, url, timeoutMs, { headers, maxBytes: MAX_BYTES, signal })
  if (status === 304 && etag !== null) return null
  if (status !== 200) throw new Error(`The source answered ${status}.`)
  const parsed = parse(json(body))
  const least = PUBLIC_HOSTS.includes(new URL(url).hostname) ? LEAST_OF_PUBLIC : 1
  if (parsed.priced < least) throw new Error(`The rate card has ${parsed.priced} priced models; at least ${least} were expected.`)
  const tag = said.get('etag') ?? ''
  return { ...parsed, etag: ETAG.test(tag) ? tag : null }
}

function json(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    throw new Error('The source did not answer with JSON.')
  }
}

const PARSERS: Readonly<Record<CardSource, (json: unknown) => ParsedCard>> = { primary: primaryCard, fallback: fallbackCard }
const KEPT_MS = 90 * 86_400_000

interface Found {
  readonly source: CardSource
  /** null: it has not changed. */
  readonly card: FetchedCard | null
}

/** Maximum changes in the answer; the rows contain all of them. */
const SHOWN = 20

async function announceDrift(
  { log, events }: PluginGateway,
  audit: AuditLog | undefined,
  runId: number,
  drifts: readonly Drift[],
): Promise<void> {
  const first = drifts.slice(0, SHOWN).map(({ provider, model, field, before, after }) => ({
    model: `${provider}/${model}`,
    field,
    old: usdOf(field, before),
    new: usdOf(field, after),
    pct: percentMoved(before, after),
  }))
  log.warn('pricing.drift', { run: runId, drifted: drifts.length, first })
  events.emit('pricing.drift_detected', { run_id: runId, drifted: drifts.length })
  const details = { drifted: drifts.length, first }
  await audit?.append({ orgId: null, actor: 'system', action: 'pricing.drift', target: `run:${runId}`, details, ip: null })
}

export function syncer(gateway: PluginGateway, view: View<Stored>, options: SyncOptions): Syncer {
  const { clock, db, log, metrics } = gateway
  const calls: DirectCalls = gateway.use('directCalls')
  const counted = metrics.counter('pricing_sync_total', 'Fetches of rate cards.', ['source', 'result'])
  const audit = gateway.optional('audit')
  const leaseMs = CARD_SOURCES.length * options.timeoutMs + 30_000
  let running: Promise<RunRow | null> | null = null

  async function claimed(reason: RunRow['reason'], signal: AbortSignal): Promise<RunRow | null> {
    const now = clock.now()
    const notSince = reason === 'timer' ? now - options.intervalMs / 2 : null
    const id = await claimRun(db, { reason, now, leaseMs, notSince })
    if (id === null) return null
    const { found, errors } = await search(signal)
    const { run, drifts } = await stored(id, found, errors).catch((error: unknown) => unstored(id, error))
    if (run.status === 'failed') log.warn('pricing.sync_failed', { run: id, error: run.error })
    else
      log.info('pricing.synced', { run: id, source: run.source, models: run.models, changed: run.changed, refused: run.refused })
    if (drifts.length > 0) await announceDrift(gateway, audit(), id, drifts)
    return run
  }

  async function search(signal: AbortSignal): Promise<{ found: Found | null; errors: string[] }> {
    const errors: string[] = []
    for (const source of CARD_SOURCES) {
      try {
        const card = await fetchCard(calls, {
          url: options.urls[source],
          timeoutMs: options.timeoutMs,
          proxyUrl: options.proxyUrl,
          etag: source === 'primary' ? knownTag() : null,
          signal,
          parse: PARSERS[source],
        })
        counted.inc({ source, result: card === null ? 'unchanged' : 'ok' })
        return { found: { source, card }, errors }
      } catch (error) {
        counted.inc({ source, result: 'failed' })
        errors.push(`${source}: ${error instanceof Error ? error.message : 'it failed.'}`)
        if (signal.aborted) break
      }
    }
    return { found: null, errors }
  }

  /** Returns the ETag only while the book equals the primary source's last card; otherwise the card is fetched again. */
  function knownTag(): string | null {
    const { sources, bookRun } = view.current
    const state = sources.get('primary')
    return state !== undefined && state.runId === bookRun && state.url === options.urls.primary ? state.etag : null
  }

  async function stored(
    id: number,
    found: Found | null,
    errors: readonly string[],
  ): Promise<{ run: RunRow; drifts: readonly Drift[] }> {
    const now = clock.now()
    const { book, bookRun, sources } = view.current
    const error = errors.length === 0 ? null : errors.join(' ').slice(0, 1000)
    const ended = { id, ref: options.ref, error, finished_at: now, changed: 0, drifted: 0, refused: 0, source: null, models: 0 }
    if (found === null) {
      const run = await view.write((tx) => finishRun(tx, { ...ended, status: 'failed', ref: null }))
      return { run, drifts: [] }
    }
    const { source, card } = found
    const ref = source === 'primary' ? options.ref : null
    const known = sources.get(source)
    const confirmed = known && { ...known, confirmedAt: now }
    const primaryAt = sources.get('primary')?.confirmedAt ?? null
    const result = card === null ? null : merged(book, card.card, { source, now, primaryAt, driftPct: options.driftPct })
    const next = result === null ? expired(book, now) : result.book
    const drifts = result?.drifts ?? []
    const models = sizeOf(next ?? book)
    const state =
      card === null
        ? // A book that only lost long-missing prices still equals the source.
          confirmed && { ...confirmed, runId: next === null ? confirmed.runId : id }
        : { source, runId: id, ref, url: options.urls[source], etag: card.etag, fetchedAt: now, confirmedAt: now }
    const run = await view.write(async (tx: Db) => {
      if (next !== null && !(await storeBook(tx, next, id, bookRun)))
        throw new Error(`Another process has stored prices meanwhile (run ${await cardRun(tx)}).`)
      if (state !== undefined) await storeSource(tx, state)
      await insertDrifts(tx, drifts, id, now)
      await pruneRuns(tx, now - KEPT_MS)
      return finishRun(tx, {
        ...ended,
        status: card === null ? 'unchanged' : 'ok',
        source,
        ref,
        models,
        changed: result?.changed ?? 0,
        drifted: drifts.length,
        refused: card?.refused ?? 0,
      })
    })
    return { run, drifts }
  }

  /** The database still has the earlier book. */
  async function unstored(id: number, cause: unknown): Promise<{ run: RunRow; drifts: readonly Drift[] }> {
    const error = cause instanceof Error ? cause.message.slice(0, 1000) : 'The prices could not be stored.'
    const none = { source: null, ref: null, models: 0, changed: 0, drifted: 0, refused: 0 }
    const run = await view.write((tx) => finishRun(tx, { ...none, id, status: 'failed', error, finished_at: clock.now() }))
    return { run, drifts: [] }
  }

  return {
    leaseMs,
    run(reason, signal) {
      running ??= claimed(reason, signal).finally(() => {
        running = null
      })
      return running
    },
  }
}

function sizeOf(book: ReadonlyMap<string, ReadonlyMap<string, unknown>>): number {
  return [...book.values()].reduce((sum, models) => sum + models.size, 0)
}
