// The rows of the matrix, in the order of the report.
import { error } from './error.ts'
import type { Feature } from './feature.ts'
import { file, image, imageUrl, pdf, schema } from './media.ts'
import { reasoning } from './reasoning.ts'
import { length, refusal, stop, system, text, usage } from './text.ts'
import { parallel, resultImages, tool } from './tools.ts'

export const FEATURES: readonly Feature[] = [
  text,
  system,
  tool,
  parallel,
  resultImages,
  image,
  imageUrl,
  pdf,
  file,
  schema,
  reasoning,
  stop,
  usage,
  refusal,
  length,
  error,
]
