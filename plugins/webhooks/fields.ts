// Members of a webhook endpoint as the configuration file spells them.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { OutboundGuard } from '../../core/types/ports.ts'
import { EVENT_TYPES } from './catalog.ts'
import { FORMATS } from './service.ts'

export interface UrlRules {
  readonly profile: 'local' | 'cloud'
  readonly outbound: OutboundGuard
  /** Where this gateway itself is reached: GATEWAY_PUBLIC_URL. */
  readonly publicUrl: string | null
}

export const eventType = z.enum(EVENT_TYPES, {
  error: ({ input }) =>
    `${typeof input === 'string' ? `\`${input.slice(0, 40)}\` is none` : 'must be one'} of ${EVENT_TYPES.join(', ')}`,
})

export const endpointUrl = (rules: UrlRules) =>
  z
    .string()
    .max(2048)
    .superRefine((url, context) => {
      const complaint = urlComplaint(url, rules)
      if (complaint !== null) context.addIssue({ code: 'custom', message: complaint })
    })

/** One entry of the file. The value behind a reference is looked at when it is resolved. */
export const declaredWebhook = (rules: UrlRules) =>
  z.strictObject({
    url: endpointUrl(rules),
    eventTypes: z.array(eventType).max(100).default([]),
    format: z.enum(FORMATS).default('standard'),
    enabled: z.boolean().default(true),
    secret: z.union([z.string(), z.strictObject({ secret: z.enum(['env', 'file']), name: z.string().min(1) })]).optional(),
  })
export type DeclaredWebhook = z.output<ReturnType<typeof declaredWebhook>>

/** Never inward. Names are judged again at every dial. */
export function urlComplaint(url: string, { profile, outbound, publicUrl }: UrlRules): string | null {
  if (!URL.canParse(url)) return 'is not a URL'
  const { protocol, username, password } = new URL(url)
  if (profile === 'cloud' && protocol !== 'https:') return 'must be an https URL'
  if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL'
  if (username !== '' || password !== '') return 'must not hold credentials'
  if (publicUrl !== null && hostOf(url) === hostOf(publicUrl)) return 'must not lead to this gateway itself'
  try {
    outbound.check(url, 'url')
    return null
  } catch (error) {
    if (GatewayError.is(error)) return error.message
    throw error
  }
}

function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : null
}
