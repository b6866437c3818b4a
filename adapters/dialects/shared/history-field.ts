// Returns the caller's own name for the conversation, which refusals name as their param.
import type { Dialect } from '../../../core/types/request/canonical.ts'

export function historyField(caller: Dialect): 'messages' | 'input' | 'contents' {
  if (caller === 'generate_content') return 'contents'
  return caller === 'responses' ? 'input' : 'messages'
}
