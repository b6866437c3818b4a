// Reads the fields of multipart forms: texts, with the names and errors of the JSON routes.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { FormBody } from '../../../core/types/operations/operation.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'

/** Returns the value of a field; undefined when it is absent or empty. @throws GatewayError 400 when it occurs twice. */
export function formText({ fields }: FormBody, name: string): string | undefined {
  const values = fields.filter(([field]) => field === name)
  if (values.length > 1) throw GatewayError.invalid(name, `\`${name}\` occurs twice in the form.`)
  return values[0]?.[1] || undefined
}

/** Returns the values of a list: `name[]` as SDKs write it, or `name` repeated. */
export function formList({ fields }: FormBody, name: string): string[] {
  return fields.filter(([field]) => field === name || field === `${name}[]`).map(([, value]) => value)
}

/** @throws GatewayError 400. */
export function formNumber(form: FormBody, name: string): number | undefined {
  const text = formText(form, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw GatewayError.invalid(name, `\`${name}\` must be a number.`)
  return value
}

/** @throws GatewayError 400. */
export function formBoolean(form: FormBody, name: string): boolean {
  const text = formText(form, name)
  if (text === undefined || text === 'false') return false
  if (text === 'true') return true
  throw GatewayError.invalid(name, `\`${name}\` must be \`true\` or \`false\`.`)
}

/** Returns the fields that are not known. */
export function otherFields({ fields }: FormBody, known: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(fields.filter(([name]) => !known.has(name.replace(/\[\]$/, ''))))
}
