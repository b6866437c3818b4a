// Removes targets that are known to be unable to serve a request. Unknown capabilities pass.
import { isConversation } from '../../../core/calls/conversation.ts'
import { estimateRequest } from '../../../core/models/token-estimate.ts'
import type { CanonicalRequest, Frozen, Part } from '../../../core/types/request/canonical.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'

export interface KnownFacts {
  readonly contextWindow?: number
  readonly capabilities: { readonly vision?: boolean; readonly function_calling?: boolean }
}

export interface Needs {
  readonly vision: boolean
  readonly tools: boolean
  /** Estimated prompt tokens. */
  readonly tokens: number
  /** Returns false when it is known without an estimate that the request cannot fill the context window. */
  mayFill(window: number): boolean
}

/** Decodes the request only when a fact needs it. */
export class RequestNeeds implements Needs {
  readonly #ctx: RequestContext
  #vision: boolean | null = null
  #tools: boolean | null = null
  #tokens: number | null = null
  #bodyBytes: number | null = null

  constructor(ctx: RequestContext) {
    this.#ctx = ctx
  }

  get vision(): boolean {
    this.#vision ??= this.#request?.messages.some(({ parts }) => parts.some(showsImage)) ?? false
    return this.#vision
  }
  get tools(): boolean {
    const request = this.#request
    this.#tools ??= request?.tools.some(({ t }) => t !== 'server') === true && request.toolChoice?.mode !== 'none'
    return this.#tools
  }
  get tokens(): number {
    const request = this.#request
    this.#tokens ??= request === null ? Math.ceil((this.#ctx.bodyBytes + this.#ctx.addedBytes) / 4) : estimateRequest(request)
    return this.#tokens
  }
  get maxTokens(): number | null {
    return this.#request?.maxTokens ?? null
  }
  /** The body's size alone may show it. */
  mayFill(window: number): boolean {
    this.#bodyBytes ??= Number(this.#ctx.headers.get('content-length') ?? Number.POSITIVE_INFINITY) + this.#ctx.addedBytes
    // No text has a token in fewer than two bytes. Pictures behind short URLs are not counted.
    return !(this.#bodyBytes / 2 < window)
  }
  get #request(): Frozen<CanonicalRequest> | null {
    return isConversation(this.#ctx) ? this.#ctx.request : null
  }
}

/** Known limits of the least capable target. */
export interface Limits {
  readonly blind: boolean
  readonly withoutTools: boolean
  readonly window: number
}

export function limitsOf(facts: Iterable<KnownFacts>): Limits {
  let [blind, withoutTools, window] = [false, false, Number.POSITIVE_INFINITY]
  for (const { capabilities, contextWindow } of facts) {
    blind ||= capabilities.vision === false
    withoutTools ||= capabilities.function_calling === false
    window = Math.min(window, contextWindow ?? window)
  }
  return { blind, withoutTools, window }
}

/** Returns false when every target can serve the request. */
export function exceeds(needs: Needs, { blind, withoutTools, window }: Limits): boolean {
  return (
    (blind && needs.vision) ||
    (withoutTools && needs.tools) ||
    (window < Number.POSITIVE_INFINITY && needs.mayFill(window) && needs.tokens > window)
  )
}

export function capable({ contextWindow, capabilities }: KnownFacts, needs: Needs): boolean {
  if (capabilities.vision === false && needs.vision) return false
  if (capabilities.function_calling === false && needs.tools) return false
  return contextWindow === undefined || !needs.mayFill(contextWindow) || needs.tokens <= contextWindow
}

/** Returns what a request needs, without its size. */
export function featuresOf(request: Frozen<CanonicalRequest>): ('vision' | 'tools')[] {
  const vision = request.messages.some(({ parts }) => parts.some(showsImage))
  const tools = request.tools.some(({ t }) => t !== 'server') && request.toolChoice?.mode !== 'none'
  return [...(vision ? ['vision' as const] : []), ...(tools ? ['tools' as const] : [])]
}

function showsImage(part: Frozen<Part>): boolean {
  return part.t === 'image' || (part.t === 'tool_result' && part.parts.some(({ t }) => t === 'image'))
}
