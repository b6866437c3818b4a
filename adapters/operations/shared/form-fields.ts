// Reads the fields of multipart forms: texts, with the names and errors of the JSON routes.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { FormBody } from '../../../core/types/operations/operation.ts'
import type { UploadedFile } from '../../../core/types/operations/operations.ts'
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'

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

/** Returns the file of a field. @throws GatewayError 400 when there are several. */
export function formFile({ files }: FormBody, name: string): UploadedFile | undefined {
  const [file, ...more] = files.filter(({ field }) => field === name)
  if (more.length > 0) throw GatewayError.invalid(name, `\`${name}\` occurs twice in the form.`)
  return file
}

/** Returns the fields that are not known. A field that is repeated, such as `known_speaker_names[]`, is a list. */
export function otherFields({ fields }: FormBody, known: ReadonlySet<string>): JsonObject {
  const found = new Map<string, string[]>()
  for (const [name, value] of fields) {
    if (!known.has(name.replace(/\[\]$/, ''))) found.set(name, [...(found.get(name) ?? []), value])
  }
  return Object.fromEntries([...found].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]))
}

/** Returns the fields of a form with these members: a list of texts is a field that is repeated. */
export function fieldsOf(members: Frozen<JsonObject>): [name: string, value: string][] {
  return Object.entries(members).flatMap(([name, value]): [string, string][] => {
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.map((one) => [name, one as string])
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]]
  })
}
