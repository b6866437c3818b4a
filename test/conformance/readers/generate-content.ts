// Reads a request to a generate-content upstream.
import type { RecordedRequest } from '../../../adapters/testing/script.ts'
import { type Ask, merged, type Piece } from '../neutral.ts'
import { list, member, optional, type Wire } from './wire.ts'

export function readGenerateContent({ json }: RecordedRequest): Ask {
  const config = (json.generationConfig ?? {}) as Wire
  const level = member(config, 'thinkingConfig', 'thinkingLevel')
  return {
    system: list(member(json, 'systemInstruction', 'parts'))
      .map((part) => part.text as string)
      .join('\n'),
    turns: merged(
      list(json.contents).map(({ role, parts }) => ({
        role: role === 'model' ? 'assistant' : 'user',
        pieces: list(parts).map(piece),
      })),
    ),
    tools: list(json.tools)
      .flatMap((tool) => list(tool.functionDeclarations))
      .map(({ name, description, parametersJsonSchema, parameters }) => ({
        name: name as string,
        description: description as string,
        schema: parametersJsonSchema ?? parameters,
      })),
    schema: config.responseJsonSchema ?? config.responseSchema ?? null,
    stop: (config.stopSequences ?? []) as string[],
    maxTokens: config.maxOutputTokens as number,
    effort: typeof level === 'string' ? level.toLowerCase() : null,
  }
}

function piece(part: Wire): Piece {
  const secret = optional('secret', part.thoughtSignature as string | undefined)
  if (part.functionCall !== undefined) {
    const { id, name, args } = part.functionCall as Wire
    return { t: 'call', id: id as string, name: name as string, args, ...secret }
  }
  if (part.functionResponse !== undefined) {
    const { id, response, parts } = part.functionResponse as Wire
    const output = member(response, 'output')
    return {
      t: 'result',
      id: id as string,
      pieces: [...(output === undefined ? [] : [{ t: 'text' as const, text: output as string }]), ...list(parts).map(piece)],
    }
  }
  if (part.inlineData !== undefined) {
    const { mimeType, data, displayName } = part.inlineData as Wire
    if (mimeType === 'application/pdf')
      return { t: 'pdf', data: data as string, ...optional('filename', displayName as string | undefined) }
    return { t: 'image', mime: mimeType as string, data: data as string }
  }
  if (part.fileData !== undefined) {
    const uri = member(part, 'fileData', 'fileUri') as string
    return uri.includes('/files/') ? { t: 'file', id: uri.slice(uri.indexOf('files/')) } : { t: 'image_url', url: uri }
  }
  if (part.thought === true) return { t: 'thought', text: part.text as string, ...secret }
  return { t: 'text', text: part.text as string, ...secret }
}
