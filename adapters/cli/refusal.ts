// Turns a refusal of the control plane into a failure of the command.
import { ApiFailure } from './fail.ts'

interface Refused {
  readonly error?: { readonly message: string; readonly param?: string | null; readonly code?: string | null }
}

export async function refusal(response: Response, method: string, path: string): Promise<Error> {
  const answer = (await response.json().catch(() => ({}))) as Refused
  const { message = `${method} ${path}: ${response.status}`, param = null, code = null } = answer.error ?? {}
  if (code === 'unknown_url')
    return new Error(`This configuration has no plugin that answers ${method} ${path}. Add it to \`plugins\`, or use the preset.`)
  return new ApiFailure(response.status, message, param)
}
