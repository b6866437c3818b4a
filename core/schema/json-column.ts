// Reads a column that holds JSON.
import { z } from 'zod'

/** The schema of the value is made once. To make it for each row takes longer than the rest of the row. */
export function jsonColumn<T extends z.ZodType>(schema: T) {
  return z.string().transform((text) => schema.parse(JSON.parse(text)) as z.output<T>)
}
