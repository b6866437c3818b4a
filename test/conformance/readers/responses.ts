// Reads a request to a responses upstream.
import type { RecordedRequest } from '../../../adapters/testing/script.ts'
import { type Ask, merged, type Piece, type Turn } from '../neutral.ts'
import { dataUrl, list, member, optional, type Wire } from './wire.ts'

export function readResponses({ json }: RecordedRequest): Ask {
  const input = typeof json.input === 'string' ? [{ type: 'message', role: 'user', content: json.input }] : list(json.input)
  const said = input.filter(isSystem).map((item) => (pieces(item.content)[0] as { text: string }).text)
  const instructions = typeof json.instructions === 'string' ? [json.instructions] : []
  return {
    system: [...instructions, ...said].join('\n'),
    turns: merged(input.filter((item) => !isSystem(item)).map(turn)),
    tools: list(json.tools).map(({ name, description, parameters }) => ({
      name: name as string,
      description: description as string,
      schema: parameters,
    })),
    schema: member(json, 'text', 'format', 'schema') ?? null,
    stop: (json.stop ?? []) as string[],
    maxTokens: json.max_output_tokens as number,
    effort: (member(json, 'reasoning', 'effort') ?? null) as string | null,
  }
}

function isSystem({ role }: Wire): boolean {
  return role === 'system' || role === 'developer'
}

function turn(item: Wire): Turn {
  switch (item.type ?? 'message') {
    case 'function_call': {
      const args = JSON.parse(item.arguments as string) as unknown
      return { role: 'assistant', pieces: [{ t: 'call', id: item.call_id as string, name: item.name as string, args }] }
    }
    case 'function_call_output':
      return { role: 'user', pieces: [{ t: 'result', id: item.call_id as string, pieces: pieces(item.output) }] }
    case 'reasoning': {
      const text = list(item.summary).map((part) => part.text as string)
      const secret = item.encrypted_content as string | undefined
      return { role: 'assistant', pieces: [{ t: 'thought', text: text.join('\n\n'), ...optional('secret', secret) }] }
    }
    default:
      return { role: item.role as 'user' | 'assistant', pieces: pieces(item.content) }
  }
}

function pieces(content: unknown): Piece[] {
  if (typeof content === 'string') return [{ t: 'text', text: content }]
  return list(content).map((part): Piece => {
    if (part.type === 'input_image') {
      const data = dataUrl(part.image_url)
      return data === null ? { t: 'image_url', url: part.image_url as string } : { t: 'image', ...data }
    }
    if (part.type === 'input_file') {
      if (part.file_id !== undefined) return { t: 'file', id: part.file_id as string }
      const data = dataUrl(part.file_data)?.data ?? ''
      return { t: 'pdf', data, ...optional('filename', part.filename as string | undefined) }
    }
    return { t: 'text', text: part.text as string }
  })
}
