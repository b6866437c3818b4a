// What may be said about a webhook endpoint (SPEC "Webhook endpoint", "Delivery behaviour"), in the spelling of the file.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { OutboundGuard } from '../../core/types/ports.ts'
import { FORMATS } from './service.ts'

export interface UrlRules {
  readonly profile: 'local' | 'cloud'
  readonly outbound: OutboundGuard
}

const eventType = z
  .string()
  .max(100)
  .regex(/^[a-z][a-z_]*(?:\.[a-z][a-z_]*)+$/, 'must be an event type such as `budget.crossed`')

/** One entry of the file. The value behind a reference is looked at when it is resolved. */
export const declaredWebhook = (rules: UrlRules) =>
  z.strictObject({
    url: z
      .string()
      .max(2048)
      .superRefine((url, context) => {
        const complaint = urlComplaint(url, rules)
        if (complaint !== null) context.addIssue({ code: 'custom', message: complaint })
      }),
    eventTypes: z.array(eventType).max(100).default([]),
    format: z.enum(FORMATS).default('standard'),
    enabled: z.boolean().default(true),
    secret: z.union([z.string(), z.strictObject({ secret: z.enum(['env', 'file']), name: z.string().min(1) })]).optional(),
  })
export type DeclaredWebhook = z.output<ReturnType<typeof declaredWebhook>>

/** RELIABILITY S1, S13: never inward. Names are judged again at every dial. */
export function urlComplaint(url: string, { profile, outbound }: UrlRules): string | null {
  if (!URL.canParse(url)) return 'is not a URL'
  const { protocol, username, password } = new URL(url)
  if (profile === 'cloud' && protocol !== 'https:') return 'must be an https URL'
  if (username !== '' || password !== '') return 'must not hold credentials'
  try {
    outbound.check(url, 'url')
    return null
  } catch (error) {
    if (GatewayError.is(error)) return error.message
    throw error
  }
}
