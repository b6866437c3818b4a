// The expected results of the matrix: everything is lossless except these cells. A cell that improves fails too, so that this table and
// the document stay correct.
import type { Dialect } from '../../core/types/request/canonical.ts'
import type { Class } from './cell.ts'

type Pair = `${Dialect}→${Dialect}`

/** With the slug of a warning or the param of a refusal. */
type Expected = 'converted' | `warned ${string}` | `refused ${string}`

const EXCEPTIONS: Readonly<Record<string, Partial<Record<Pair, Expected>>>> = {
  tools: {
    'chat→generate_content': 'converted',
    'messages→generate_content': 'converted',
    'responses→generate_content': 'converted',
  },
  result_images: {
    'messages→chat': 'converted',
    'responses→chat': 'converted',
    'generate_content→chat': 'converted',
    'messages→generate_content': 'converted',
    'responses→generate_content': 'converted',
  },
  image_url: {
    'chat→generate_content': 'converted',
    'messages→generate_content': 'converted',
    'responses→generate_content': 'converted',
  },
  pdf: {
    'chat→generate_content': 'converted',
    'messages→generate_content': 'converted',
    'responses→generate_content': 'converted',
    'generate_content→chat': 'converted',
    'generate_content→responses': 'converted',
  },
  file: {
    'chat→messages': 'refused messages',
    'chat→generate_content': 'refused messages',
    'messages→chat': 'refused messages',
    'messages→responses': 'refused messages',
    'messages→generate_content': 'refused messages',
    'responses→chat': 'refused input',
    'responses→messages': 'refused input',
    'responses→generate_content': 'refused input',
    'generate_content→chat': 'refused contents',
    'generate_content→messages': 'refused contents',
    'generate_content→responses': 'refused contents',
  },
  reasoning: {
    'chat→messages': 'converted',
    'chat→responses': 'converted',
    'chat→generate_content': 'converted',
    'messages→chat': 'converted',
    'messages→generate_content': 'converted',
    'responses→chat': 'converted',
    'responses→generate_content': 'converted',
    'generate_content→chat': 'converted',
  },
  stop: {
    'chat→messages': 'converted',
    'responses→messages': 'converted',
    'generate_content→messages': 'converted',
    'chat→responses': 'warned dropped_stop',
    'messages→responses': 'warned dropped_stop',
    'generate_content→responses': 'warned dropped_stop',
  },
  usage: {
    'generate_content→chat': 'converted',
    'generate_content→messages': 'converted',
    'generate_content→responses': 'converted',
  },
  refusal: {
    'chat→messages': 'converted',
    'responses→messages': 'converted',
    'messages→generate_content': 'converted',
    'generate_content→chat': 'converted',
    'generate_content→messages': 'converted',
    'generate_content→responses': 'converted',
  },
}

/** Returns the class, with the slug or param of warnings and refusals. Streamed and whole answers must be equal. */
export function expectedOf(feature: string, caller: Dialect, upstream: Dialect): { class: Class; detail?: string[] } {
  const found = EXCEPTIONS[feature]?.[`${caller}→${upstream}`]
  if (found === undefined) return { class: 'lossless', detail: [] }
  const [of, ...detail] = found.split(' ') as [Class, ...string[]]
  return of === 'converted' ? { class: of } : { class: of, detail }
}
