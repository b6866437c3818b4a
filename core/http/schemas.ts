// Zod schemas that many control-plane routes share.
import { z } from 'zod'

/** A positive integer in the path; any other text is 404. */
export const idParams = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .transform(Number),
})

export const deleted = z.strictObject({ deleted: z.literal(true) })
