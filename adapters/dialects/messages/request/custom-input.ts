// Custom (free text) tools are functions with one `input` text here. Canonical arguments may come bare or wrapped already.
import { RawJson } from '../../../../core/json/raw-json.ts'
import { isObject } from '../../shared/fields.ts'

/** The wire `input` of a call; `onWrapped` hears when the arguments were not an object. */
export function callInput(args: string, custom: boolean, onWrapped: () => void): unknown {
  const text = args.trim()
  if (!custom && (text === '' || text === 'null')) return {}
  const parsed = parse(text)
  if (custom) {
    const wrapped = isObject(parsed) && typeof parsed.input === 'string' && Object.keys(parsed).length === 1
    return wrapped ? new RawJson(text) : { input: args }
  }
  if (isObject(parsed)) return new RawJson(text)
  onWrapped()
  return { _raw: args }
}

/** The plain text of a custom call that an upstream made as a function: canonical custom arguments are always bare. */
export function plainInput(args: string): string {
  const parsed = parse(args)
  return isObject(parsed) && typeof parsed.input === 'string' && Object.keys(parsed).length === 1 ? parsed.input : args
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
