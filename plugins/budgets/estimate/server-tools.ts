// Estimates tools that run at the vendor: each use adds its result to the prompt, and the model reads the whole prompt again. The caller
// may limit number and size; otherwise a share for each use is reserved.
import { z } from 'zod'
import type { CanonicalRequest, Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'

const share = z.strictObject({
  /** Number of uses in one request without a lower limit. */
  uses: z.int().min(0).max(1000),
  /** Prompt tokens that one use adds. */
  tokens: z.int().min(0).max(10_000_000),
})
export type ToolShare = z.output<typeof share>

/** By the kind of tool; `other` applies to all kinds that are not listed. */
export const toolShares = z.record(z.string().max(64), share.partial())
export type ToolShares = z.output<typeof toolShares>

const SHARES: Readonly<Record<string, ToolShare>> = {
  web_search: { uses: 10, tokens: 30_000 },
  web_fetch: { uses: 10, tokens: 100_000 },
  code_execution: { uses: 10, tokens: 10_000 },
  file_search: { uses: 10, tokens: 20_000 },
  mcp: { uses: 10, tokens: 10_000 },
}
const OTHER: ToolShare = { uses: 10, tokens: 10_000 }

/** The first match wins; vendors put versions after the name. */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(web_?search|google_?search|google_?maps|enterprise_?web_?search|x_search)/i, 'web_search'],
  [/^(web_?fetch|url_?context)/i, 'web_fetch'],
  [/^(code_?execution|code_interpreter|shell)/i, 'code_execution'],
  [/^(file_?search|retrieval|collections_search)/i, 'file_search'],
  [/^mcp/i, 'mcp'],
]
/** The caller runs these tools: their results arrive in a later request. */
const CALLERS = /^(computer|bash|text_editor|memory|local_shell|apply_patch)/i
/** Members by which chat vendors enable a search without a tool. */
const SWITCHES = ['plugins', 'search_parameters', 'enable_search', 'web_search', 'extra_body'] as const

/** The additional cost of vendor-side tools. */
export interface ServerUse {
  /** Uses of all tools together. */
  readonly uses: number
  /** Prompt tokens of all uses together. */
  readonly tokens: number
  /** Number of uses that are billed as searches. */
  readonly searches: number
}

const NO_USE: ServerUse = { uses: 0, tokens: 0, searches: 0 }

/** @param capped the caller's own limits reach the vendor, because it speaks the caller's dialect. */
export function serverUse(
  offered: readonly Offered[],
  request: Frozen<CanonicalRequest>,
  shares: ToolShares,
  capped: boolean,
): ServerUse {
  if (offered.length === 0) return NO_USE
  const each = offered.map(({ kind, raw }) => {
    const { uses, tokens } = { ...(SHARES[kind] ?? OTHER), ...shares[SHARES[kind] === undefined ? 'other' : kind] }
    const said = bound(raw.max_uses)
    return {
      kind,
      uses: capped ? (said ?? uses) : Math.max(said ?? 0, uses),
      tokens: Math.max(tokens, bound(raw.max_content_tokens) ?? 0),
    }
  })
  const most = (capped ? bound(request.ext.responses?.max_tool_calls) : undefined) ?? Number.POSITIVE_INFINITY
  const sum = each.reduce((total, { uses }) => total + uses, 0)
  const all = each.reduce((total, { uses, tokens }) => total + uses * tokens, 0)
  const searches = each.reduce((total, { kind, uses }) => total + (kind === 'web_search' ? uses : 0), 0)
  const largest = Math.max(...each.map(({ tokens }) => tokens))
  const uses = Math.min(sum, most)
  return { uses, tokens: Math.min(all, uses * largest), searches: Math.min(searches, most) }
}

export interface Offered {
  readonly kind: string
  readonly raw: Frozen<JsonObject>
}

export function toolsOf({ tools, webSearch, ext }: Frozen<CanonicalRequest>): Offered[] {
  const offered: Offered[] = []
  for (const tool of tools) {
    if (tool.t !== 'server' || CALLERS.test(tool.kind)) continue
    offered.push({ kind: kindOf(tool.kind), raw: fieldsOf(tool.raw) })
  }
  if (webSearch !== undefined && !offered.some(({ kind }) => kind === 'web_search'))
    offered.push({ kind: 'web_search', raw: { ...(webSearch.maxUses === undefined ? {} : { max_uses: webSearch.maxUses }) } })
  const servers = ext.messages?.mcp_servers
  if (Array.isArray(servers) && !offered.some(({ kind }) => kind === 'mcp'))
    for (const _ of servers) offered.push({ kind: 'mcp', raw: {} })
  for (const name of SWITCHES) {
    const value = ext.chat?.[name]
    if (value !== undefined && value !== null && value !== false) offered.push({ kind: 'web_search', raw: {} })
  }
  return offered
}

function kindOf(name: string): string {
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}

function fieldsOf(raw: Frozen<Json>): Frozen<JsonObject> {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as Frozen<JsonObject>) : {}
}

/** A limit that no vendor accepts does not count. */
function bound(value: Frozen<Json> | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 ? value : undefined
}
