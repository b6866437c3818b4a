// The service `guardrails`: add detectors, inspect texts, tighten the policy.
import type { RequestContext } from '../../core/types/context.ts'

export type Direction = 'input' | 'output'
export type Action = 'log' | 'redact' | 'block'

/** Where a text stands. No header and no credential is in it: what a detector keeps of it is its own affair. */
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
  /** A name for records, metrics and messages. */
  readonly name: string
  readonly stage: readonly Direction[]
  readonly mode: Action
  /** When `check` throws or is late: pass (true) or refuse. Default: refuse with `block`, else pass. */
  readonly failOpen?: boolean
}

/** Deterministic and quick. It is shown windows of a text, so a finding is at most 256 characters long and has offsets. */
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
  /** Takes part while `guardrails.enabled` is on. Returns what takes it away. @throws Error for a name that is taken. */
  detector(detector: Detector): () => void
  /**
   * Prompts of operations other than chat: what may be sent upstream, in the same order.
   * @throws GatewayError 400 `guardrail_blocked`.
   */
  input(ctx: RequestContext, texts: readonly string[]): Promise<readonly string[]>
  /** In `ingress` or `access`: prompt injection blocks for this request, whatever the settings say. */
  tighten(ctx: RequestContext): void
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    guardrails: GuardrailService
  }
}
