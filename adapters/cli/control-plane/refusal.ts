// Turns a refusal of the control plane into a failure of the command.
import type { HookgateError } from '../../client/index.ts'
import { ApiFailure } from '../fail.ts'

export function refusal({ status, code, message, param }: HookgateError, method: string, path: string): Error {
  if (code === 'unknown_url')
    return new Error(`This configuration has no plugin that answers ${method} ${path}. Add it to \`plugins\`, or use the preset.`)
  return new ApiFailure(status, message, param)
}
