// A first request in each dialect, and the text in a streamed or whole answer.

export type Dialect = 'chat' | 'messages' | 'responses' | 'generate_content'

export const DIALECTS: readonly { id: Dialect; title: string }[] = [
  { id: 'chat', title: 'Chat completions' },
  { id: 'messages', title: 'Messages' },
  { id: 'responses', title: 'Responses' },
  { id: 'generate_content', title: 'Generate content' },
]

const PROMPT = 'Say hello in three languages.'

export function sampleOf(dialect: Dialect): Record<string, unknown> {
  if (dialect === 'messages') return { max_tokens: 256, messages: [{ role: 'user', content: PROMPT }] }
  if (dialect === 'responses') return { input: PROMPT }
  if (dialect === 'generate_content') return { contents: [{ role: 'user', parts: [{ text: PROMPT }] }] }
  return { messages: [{ role: 'user', content: PROMPT }] }
}

/** Returns the text that a reader of the answer sees. Frames and whole answers of all dialects are understood. */
export function readableText(delivered: string): string {
  const frames = delivered.startsWith('event:') || delivered.startsWith('data:') ? dataOf(delivered) : [delivered]
  return frames.map(textOf).join('')
}

function dataOf(stream: string): string[] {
  return stream.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
}

interface Piece {
  text?: unknown
  content?: unknown
}

function textOf(json: string): string {
  try {
    const frame = JSON.parse(json) as {
      type?: string
      delta?: { text?: unknown } | string
      choices?: { delta?: Piece; message?: Piece }[]
      content?: Piece[]
      candidates?: { content?: { parts?: Piece[] } }[]
      output?: { content?: Piece[] }[]
      error?: { message?: unknown }
    }
    if (frame.error) return String(frame.error.message ?? '')
    if (frame.choices) return frame.choices.map(({ delta, message }) => string(delta?.content ?? message?.content)).join('')
    if (frame.candidates)
      return frame.candidates
        .flatMap(({ content }) => content?.parts ?? [])
        .map(({ text }) => string(text))
        .join('')
    if (frame.type === 'response.output_text.delta') return string(frame.delta)
    if (frame.type === 'content_block_delta') return string((frame.delta as { text?: unknown }).text)
    if (frame.output)
      return frame.output
        .flatMap(({ content }) => content ?? [])
        .map(({ text }) => string(text))
        .join('')
    if (frame.type === 'message' && frame.content) return frame.content.map(({ text }) => string(text)).join('')
    return ''
  } catch {
    return ''
  }
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
