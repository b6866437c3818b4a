// The heartbeat for Google's own clients: their stream parsers read a comment as broken JSON and end the answer.
import type { QuietFrame } from '../../../../core/types/request/dialect.ts'

const CLIENT = 'x-goog-api-client'

export const quietFrame: QuietFrame = {
  // The chats of @google/genai drop a turn that had a chunk without parts; those of @google/generative-ai drop one with an empty text.
  text: (headers) => (headers.get(CLIENT)?.includes('google-genai-sdk') ? frame('{"text":""}') : frame('')),
  // Google's SDKs send this header. Gemini CLI and its forks have a user agent.
  neededBy: (headers) => headers.has(CLIENT) || /geminicli/i.test(headers.get('user-agent') ?? ''),
}

function frame(part: string): string {
  return `data: {"candidates":[{"content":{"parts":[${part}],"role":"model"},"index":0}]}\n\n`
}
