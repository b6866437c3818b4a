// Reads a column that holds JSON.
import { z } from 'zod'

/** The schema of the value is made once: made anew for each row, it takes longer than everything else of the row. */
export function jsonColumn<T extends z.ZodType>(schema: T) {
  return z.string().transform((text) => schema.parse(JSON.parse(text)) as z.output<T>)
}
