// The operations that the gateway serves besides chat.
import type { OperationDriver } from '../../core/types/operations/operation.ts'
import type { MediaOperation } from '../../core/types/operations/operations.ts'
import { compact } from './compact/index.ts'
import { completions } from './completions/index.ts'
import { embeddings } from './embeddings/index.ts'
import { images } from './images/index.ts'
import { moderations } from './moderations/index.ts'
import { ocr } from './ocr/index.ts'
import { rerank } from './rerank/index.ts'
import { search } from './search/index.ts'
import { speech } from './speech/index.ts'
import { transcription } from './transcription/index.ts'
import { webFetch } from './web-fetch/index.ts'

export const operations = [
  embeddings,
  rerank,
  moderations,
  ocr,
  images,
  speech,
  transcription,
  search,
  webFetch,
  compact,
  completions,
] as unknown as readonly OperationDriver<MediaOperation>[]
