// The answer to a request, from an upstream, a cache or a plugin.
import type { CanonicalResponse } from './answer.ts'
import type { Dialect, Frozen } from './canonical.ts'
import type { WireBody } from './dialect.ts'
import type { Sink } from './ports.ts'
import type { StreamSource } from './stream.ts'

export interface ByteSource {
  pump(sink: Pick<Sink, 'write' | 'drained'>): Promise<void>
  cancel(reason?: unknown): void
}

export type Result =
  /** `wire`: the upstream's own bytes. They are sent unchanged unless a hook edited the response. */
  | { kind: 'full'; response: Frozen<CanonicalResponse>; wire?: { dialect: Dialect; body: WireBody } }
  | { kind: 'stream'; source: StreamSource }
  | { kind: 'raw'; status: number; headers: readonly string[]; body: Uint8Array | ByteSource | null }
