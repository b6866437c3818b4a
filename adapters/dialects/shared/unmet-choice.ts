// Handles a tool that a target cannot run: it is dropped with a warning while the model may answer without it, and refused when the
// caller requires a call.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen } from '../../../core/types/request/canonical.ts'
import { callerField } from './caller-field.ts'

/**
 * @param left whether the target gets any tool of the request.
 * @throws GatewayError.unsupported `tool_choice` when it gets none and the caller requires a call.
 */
export function refuseUnmetChoice({ tools, toolChoice, source }: Frozen<CanonicalRequest>, left: boolean): void {
  if (left || tools.length === 0 || toolChoice === undefined) return
  const { mode } = toolChoice
  if (mode === 'auto' || mode === 'none' || (mode === 'allowed' && toolChoice.base === 'auto')) return
  throw GatewayError.unsupported(
    callerField('tool_choice', source),
    'A tool call is demanded, and this target can run none of the tools. Let the model choose, or use another target.',
  )
}
