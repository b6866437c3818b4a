// Webhook endpoints as other plugins see them (SPEC "Webhook endpoint"); their signing secrets stay with this plugin.

export const FORMATS = ['standard', 'slack', 'discord'] as const
export type WebhookFormat = (typeof FORMATS)[number]

export interface WebhookEndpoint {
  /** `ep_…`. */
  readonly id: string
  readonly orgId: number | null
  readonly url: string
  /** Empty: every event that is on by default. */
  readonly eventTypes: readonly string[]
  readonly format: WebhookFormat
  readonly enabled: boolean
  readonly managedBy: 'config' | 'api'
  readonly configKey: string | null
  /** Epoch ms. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Living ones, disabled ones too; read from memory. */
export interface WebhookService {
  /** In the order they were made. */
  list(orgId: number | null): readonly WebhookEndpoint[]
  get(orgId: number | null, id: string): WebhookEndpoint | null
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    webhooks: WebhookService
  }
}
