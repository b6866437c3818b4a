// Reads a request to a chat-completions upstream.
import type { RecordedRequest } from '../../../adapters/testing/script.ts'
import { type Ask, merged, type Piece, type Turn } from '../neutral.ts'
import { dataUrl, list, member, optional, type Wire } from './wire.ts'

export function readChat({ json }: RecordedRequest): Ask {
  const messages = list(json.messages)
  const system = messages.filter(isSystem).map((message) => textOf(message.content))
  return {
    system: system.join('\n'),
    turns: merged(messages.filter((message) => !isSystem(message)).map(turn)),
    tools: list(json.tools).map(({ function: fn }) => ({
      name: member(fn, 'name') as string,
      description: member(fn, 'description') as string,
      schema: member(fn, 'parameters'),
    })),
    schema: member(json, 'response_format', 'json_schema', 'schema') ?? null,
    stop: typeof json.stop === 'string' ? [json.stop] : ((json.stop ?? []) as string[]),
    maxTokens: (json.max_completion_tokens ?? json.max_tokens) as number,
    effort: (json.reasoning_effort ?? null) as string | null,
  }
}

function isSystem({ role }: Wire): boolean {
  return role === 'system' || role === 'developer'
}

function turn(message: Wire): Turn {
  if (message.role === 'tool') {
    const id = message.tool_call_id as string
    return { role: 'user', pieces: [{ t: 'result', id, pieces: contents(message.content) }] }
  }
  if (message.role === 'user') return { role: 'user', pieces: contents(message.content) }
  const thoughts = message.reasoning_content ?? message.reasoning
  return {
    role: 'assistant',
    pieces: [
      ...(typeof thoughts === 'string' ? [{ t: 'thought' as const, text: thoughts }] : []),
      ...contents(message.content),
      ...list(message.tool_calls).map(call),
    ],
  }
}

function call(wire: Wire): Piece {
  const secret = member(wire, 'extra_content', 'google', 'thought_signature') as string | undefined
  return {
    t: 'call',
    id: wire.id as string,
    name: member(wire, 'function', 'name') as string,
    args: JSON.parse(member(wire, 'function', 'arguments') as string) as unknown,
    ...optional('secret', secret),
  }
}

function contents(content: unknown): Piece[] {
  if (typeof content === 'string') return content === '' ? [] : [{ t: 'text', text: content }]
  return list(content).map((part): Piece => {
    if (part.type === 'image_url') {
      const url = member(part, 'image_url', 'url') as string
      const data = dataUrl(url)
      return data === null ? { t: 'image_url', url } : { t: 'image', ...data }
    }
    if (part.type === 'file') {
      const id = member(part, 'file', 'file_id') as string | undefined
      if (id !== undefined) return { t: 'file', id }
      const data = dataUrl(member(part, 'file', 'file_data'))?.data ?? ''
      return { t: 'pdf', data, ...optional('filename', member(part, 'file', 'filename') as string | undefined) }
    }
    return { t: 'text', text: part.text as string }
  })
}

function textOf(content: unknown): string {
  return contents(content)
    .map((piece) => (piece.t === 'text' ? piece.text : ''))
    .join('\n')
}
