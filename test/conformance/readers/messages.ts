// Reads a request to a messages upstream.
import type { RecordedRequest } from '../../../adapters/testing/script.ts'
import { type Ask, merged, type Piece } from '../neutral.ts'
import { list, member, optional, type Wire } from './wire.ts'

export function readMessages({ json }: RecordedRequest): Ask {
  const system = typeof json.system === 'string' ? [json.system] : list(json.system).map(({ text }) => text as string)
  return {
    system: system.join('\n'),
    turns: merged(
      list(json.messages).map(({ role, content }) => ({ role: role as 'user' | 'assistant', pieces: blocks(content) })),
    ),
    tools: list(json.tools).map(({ name, description, input_schema: schema }) => ({
      name: name as string,
      description: description as string,
      schema,
    })),
    schema: member(json, 'output_config', 'format', 'schema') ?? null,
    stop: (json.stop_sequences ?? []) as string[],
    maxTokens: json.max_tokens as number,
    effort: effort(json),
  }
}

function effort(json: Wire): string | null {
  const type = member(json, 'thinking', 'type')
  if (type === undefined || type === 'disabled') return null
  return (member(json, 'output_config', 'effort') ?? `${member(json, 'thinking', 'budget_tokens')} tokens`) as string
}

function blocks(content: unknown): Piece[] {
  if (typeof content === 'string') return [{ t: 'text', text: content }]
  return list(content).map(block)
}

function block(wire: Wire): Piece {
  const source = (wire.source ?? {}) as Wire
  switch (wire.type) {
    case 'image':
      if (source.type === 'url') return { t: 'image_url', url: source.url as string }
      return { t: 'image', mime: source.media_type as string, data: source.data as string }
    case 'document':
      if (source.type === 'file') return { t: 'file', id: source.file_id as string }
      return { t: 'pdf', data: source.data as string, ...optional('filename', wire.title as string | undefined) }
    case 'tool_use':
      return { t: 'call', id: wire.id as string, name: wire.name as string, args: wire.input }
    case 'tool_result':
      return { t: 'result', id: wire.tool_use_id as string, pieces: blocks(wire.content) }
    case 'thinking':
      return { t: 'thought', text: wire.thinking as string, secret: wire.signature as string }
    default:
      return { t: 'text', text: wire.text as string }
  }
}
