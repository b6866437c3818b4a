// Makes the writable copy of a request that edit() returns. The original stays shared and read-only.
import type { CanonicalRequest, Frozen } from '../types/request/canonical.ts'

/** Returns a copy to change: request, system, messages and tools are fresh. Parts are shared: replace them, never change them. */
export function editable(request: Frozen<CanonicalRequest>): CanonicalRequest {
  // The request of another operation has no messages.
  return 'messages' in request ? conversation(request) : copied(request as never)
}

/** Returns a deep copy. Bytes of uploads are shared. */
function copied<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copied) as T
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)])) as T
}

function conversation(request: Frozen<CanonicalRequest>): CanonicalRequest {
  const source = request as CanonicalRequest
  return {
    ...source,
    system: source.system.map((block) => ({ ...block, parts: [...block.parts] })),
    messages: source.messages.map((message) => ({ ...message, parts: [...message.parts] })),
    tools: source.tools.map((tool) => ({ ...tool })),
    sampling: { ...source.sampling },
    headers: { ...source.headers },
    ext: { ...source.ext },
    ...(source.reasoning ? { reasoning: { ...source.reasoning } } : {}),
    ...(source.state ? { state: { ...source.state } } : {}),
    ...(source.output ? { output: { ...source.output } } : {}),
  }
}
