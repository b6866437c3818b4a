// The answer to a request, from an upstream, a cache or a plugin.

import type { OperationReply } from '../operations/operation.ts'
import type { OperationAnswer } from '../operations/operations.ts'
import type { ByteSource } from '../ports/ports.ts'
import type { CanonicalResponse } from './answer.ts'
import type { Dialect, Frozen } from './canonical.ts'
import type { WireBody } from './dialect.ts'
import type { StreamSource } from './stream.ts'

export type Result =
  /** `wire`: the upstream's own bytes. They are sent unchanged unless a hook edited the response. */
  | { kind: 'full'; response: Frozen<CanonicalResponse>; wire?: { dialect: Dialect; body: WireBody } }
  | { kind: 'stream'; source: StreamSource }
  /** The answer of an operation other than chat. */
  | { kind: 'answer'; reply: OperationReply<OperationAnswer> }
  | { kind: 'raw'; status: number; headers: readonly string[]; body: Uint8Array | ByteSource | null }
