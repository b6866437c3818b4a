// The expected results of the operations' matrix. A cell that improves fails too, so that this table and the document stay correct.
import { operations } from '../../../adapters/operations/index.ts'
import type { Column, OperationOutcome } from './cell.ts'
import type { OperationNote } from './notes.ts'
import type { CodecCase } from './world.ts'

/** Notes of a converted answer, or the slug of a warning. Everything else is lossless. */
type Expected = 'request' | 'answer' | 'request answer' | `warned ${string}`

const BOTH: Expected = 'request answer'
const SUCCESS: Readonly<Record<string, Expected>> = {
  'embeddings→mistral': 'request',
  'embeddings→voyage': 'request',
  'embeddings→nvidia': 'request',
  'embeddings→cohere': BOTH,
  'embeddings→google': BOTH,
  'rerank→openai': 'answer',
  'rerank→jina': 'answer',
  'rerank→cohere': 'answer',
  'rerank→voyage': BOTH,
  'images→xai': 'request',
  'images→together': 'request',
  'images→siliconflow': 'warned response_format_url',
  'images→google': BOTH,
  'images→bfl': 'warned response_format_url',
  'images→stability': BOTH,
  'speech→elevenlabs': 'request',
  'speech→deepgram': 'warned dropped_speed',
  'speech→google': 'warned dropped_speed response_format_wav',
  'transcription→elevenlabs': 'warned dropped_temperature',
  'transcription→deepgram': 'warned dropped_temperature',
  'completions→mistral': 'answer',
  'search→tavily': 'answer',
  'search→perplexity': 'answer',
  'search→brave': BOTH,
  'search→serper': BOTH,
  'search→google_pse': BOTH,
  'search→linkup': BOTH,
  'search→searxng': BOTH,
  'search→firecrawl': BOTH,
  'search→jina': BOTH,
  'search→exa': BOTH,
  'web_fetch→firecrawl': BOTH,
  'web_fetch→jina': 'answer',
  'web_fetch→tavily': BOTH,
  'web_fetch→exa': BOTH,
}

/** The status of a failure, and the note when it is not the vendor's own. */
const FAILURES: Readonly<Record<Exclude<Column, 'success'>, readonly [status: number, note?: OperationNote]>> = {
  '400': [400],
  '401': [502, 'credential'],
  '429': [429],
  '500': [500],
  timeout: [504, 'silence'],
  cut: [502, 'cut'],
  malformed: [502, 'malformed'],
}

export function expectedOf({ operation, codec }: CodecCase, column: Column): OperationOutcome {
  if (column === 'success') return { ...answered(SUCCESS[`${operation}→${codec}`]), status: 200, next: false }
  const next = column !== '400' && operations.find(({ id }) => id === operation)?.connections === 'all'
  // The bytes of a streamed speech have reached the caller by then.
  if (operation === 'speech' && codec !== 'google' && column === 'cut')
    return { class: 'converted', detail: ['cut_audio'], status: 200, next }
  const [status, note] = FAILURES[column]
  return { class: note === undefined ? 'lossless' : 'converted', detail: note === undefined ? [] : [note], status, next }
}

function answered(expected: Expected | undefined): Pick<OperationOutcome, 'class' | 'detail'> {
  if (expected === undefined) return { class: 'lossless', detail: [] }
  const [first = '', ...rest] = expected.split(' ')
  return first === 'warned' ? { class: 'warned', detail: rest } : { class: 'converted', detail: [first, ...rest] }
}
