// Types of the service `guardrails`: adds detectors, inspects texts, tightens the policy.
import type { RequestContext } from '../../core/types/request/context.ts'

export type Direction = 'input' | 'output'
export type Action = 'log' | 'redact' | 'block'

/** The place of a text. It contains no header and no credential, because a detector may store it. */
export interface TextInfo {
  readonly direction: Direction
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly place: 'text' | 'reasoning' | 'tool_call' | 'tool_result' | 'document'
}

/** `start` and `end` are offsets into the given text. Without them the finding covers the whole text. */
export interface Finding {
  readonly entity: string
  readonly start?: number
  readonly end?: number
}

interface DetectorBase {
  /** The name in records, metrics and messages. */
  readonly name: string
  readonly stage: readonly Direction[]
  readonly mode: Action
  /** When `check` throws or times out: true passes, false refuses. Default: false with `block`, otherwise true. */
  readonly failOpen?: boolean
}

/** Must be deterministic and fast. It gets windows of a text, so a finding has offsets and is at most 256 characters long. */
export interface LocalDetector extends DetectorBase {
  readonly remote?: false
  check(text: string, info: TextInfo): readonly Finding[]
}

/**
 * A detector that calls a service. It gets whole texts after the built-in detectors have redacted them; a streamed answer is held for it.
 */
export interface RemoteDetector extends DetectorBase {
  readonly remote: true
  /** Default 2,000. */
  readonly timeoutMs?: number
  check(text: string, info: TextInfo, signal: AbortSignal): Promise<readonly Finding[]>
}

export type Detector = LocalDetector | RemoteDetector

export interface GuardrailService {
  /**
   * Adds a detector, which runs while `guardrails.enabled` is on. Returns a function that removes it. @throws Error for a name that is
   * taken.
   */
  detector(detector: Detector): () => void
  /**
   * Inspects prompts of operations other than chat. Returns the texts that may be sent upstream, in the same order.
   * @throws GatewayError 400 `guardrail_blocked`.
   */
  input(ctx: RequestContext, texts: readonly string[]): Promise<readonly string[]>
  /**
   * Inspects texts of an answer that is not a model's, such as a fetched page. Returns the texts that the caller may get, in the same order.
   * @throws GatewayError 400 `guardrail_blocked`.
   */
  output(ctx: RequestContext, texts: readonly string[]): Promise<readonly string[]>
  /** Call it in `ingress` or `access`: prompt injection then blocks this request, whatever the settings are. */
  tighten(ctx: RequestContext): void
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    guardrails: GuardrailService
  }
}
