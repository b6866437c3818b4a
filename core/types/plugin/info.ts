// The type of an entry of the service `plugins`.
import type { BelongsTo } from '../ports/db.ts'
import type { PluginPage } from './page.ts'
import type { Panel } from './panel.ts'
import type { PluginOrigin } from './plugin.ts'

/** The service `plugins`. */
export interface PluginOverview {
  /** In the order of the configuration. */
  list(): PluginInfo[]
  /** Every hook with its plugins in the order in which they run. */
  order(): { hook: string; plugins: string[] }[]
  /** The order that serves and the one before it; null: there was no reload. */
  sealed(): { serving: SealedOrder | null; before: SealedOrder | null }
  /** Tables without a column `org_id` whose rows belong to one organization, as the migrations of the plugins declare them. */
  belonging(): Readonly<Record<string, BelongsTo>>
}

/** The order of one generation. */
export interface SealedOrder {
  readonly generation: number
  /** Epoch ms. */
  readonly sealedAt: number
  readonly order: readonly { readonly hook: string; readonly plugins: readonly string[] }[]
}

export interface PluginInfo {
  readonly name: string
  /** The version of the plugin or of its package; null when neither states one. */
  readonly version: string | null
  readonly origin: PluginOrigin
  readonly apiVersion: number
  /** Number of the generation that set the plugin up. A reload that keeps the plugin does not change it. */
  readonly generation: number
  readonly hooks: readonly string[]
  /** For example `GET /api/keys`. */
  readonly routes: readonly string[]
  readonly services: readonly string[]
  /** The panels it adds to the dashboard. */
  readonly panels: readonly Panel[]
  /** Its own pages in the dashboard. */
  readonly pages: readonly PluginPage[]
  /** `degraded` for five minutes after a failure of one of its hooks. */
  readonly state: 'running' | 'degraded'
  /** Failures of the plugin's hooks since the gateway started. */
  readonly errors: number
  /** The same by hook. */
  readonly hookErrors: readonly { readonly hook: string; readonly errors: number }[]
  /** How often its hooks ran and how often they refused a request, since the generation that serves was sealed. */
  readonly hookRuns: readonly { readonly hook: string; readonly ran: number; readonly refused: number }[]
  /** `refused`: the hook fails closed, so the request was refused. */
  readonly lastError: { readonly hook: string; readonly at: number; readonly refused: boolean } | null
}
