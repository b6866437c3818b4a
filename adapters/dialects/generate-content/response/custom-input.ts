// Reads the input of a custom tool from the call that stands for it.
import type { Json } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../fields.ts'

/** A custom tool was declared as a function with one text parameter. */
export function customInput(args: string): string {
  try {
    const parsed = JSON.parse(args) as Json
    return isObject(parsed) && typeof parsed.input === 'string' ? parsed.input : args
  } catch {
    return args
  }
}
