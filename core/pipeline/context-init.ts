// The values that a request's context starts with, and how later ones are checked.
import type { Generation } from '../plugins/generation.ts'
import type { HeaderBag, Ingress } from '../types/ports/ports.ts'
import type { Dialect, Operation } from '../types/request/canonical.ts'
import type { KeyScope, ModelKind, Principal } from '../types/request/context.ts'

export const ANONYMOUS: Principal = Object.freeze({ keyId: null, label: null, orgId: null, allowedModels: null })

export interface ContextInit<P> {
  ingress: Ingress | null
  generation: Generation
  slotCount: number
  operation: Operation
  /** Default `none`: an internal call has no key. */
  scope?: KeyScope
  /** Default `text`: an internal call may name a virtual model. */
  models?: ModelKind
  keyRequired?: boolean
  dialect: Dialect
  headers: HeaderBag
  /** Epoch ms; `monotonic` is monotonic ms. */
  now: number
  monotonic: number
  source?: string | undefined
  parent?: P | null
}

/** Checks a value that a plugin sets. */
export function textOrNull(value: string | null, name: string): string | null {
  if (value === null || typeof value === 'string') return value
  throw new TypeError(`ctx.${name} is a string or null`)
}
