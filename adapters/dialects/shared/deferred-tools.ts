// Handles deferred tools of a messages caller on a target of another dialect. References in tool results become text that names the
// tools, and a deferred tool is declared only after its reference, as its own vendor does.
import type { CanonicalRequest, Frozen, JsonObject, Message, Part, Tool } from '../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../core/types/request/dialect.ts'
import { isObject } from './fields.ts'

type Request = Frozen<CanonicalRequest>

/** Returns the same request when it has no deferred tool and no reference. */
export function withLoadedTools(request: Request, codec: CodecContext): Request {
  if (request.source !== 'messages') return request
  const loaded = new Set<string>()
  const messages = request.messages.map((message) => named(message, loaded))
  const changed = messages.some((message, index) => message !== request.messages[index])
  const deferred = request.tools.some(isDeferred)
  if (!deferred) return changed ? { ...request, messages } : request
  const tools = offered(request, loaded)
  if (tools.length < request.tools.length) codec.warn('dropped_deferred_tools')
  return { ...request, messages, tools }
}

function isDeferred(tool: Frozen<Tool>): boolean {
  return tool.t === 'function' && tool.deferLoading === true
}

function offered(request: Request, loaded: Set<string>): Frozen<Tool>[] {
  // The vendor's own search does not run on this target, and a list of only deferred tools includes none: no tool could ever be loaded.
  const unloadable =
    request.tools.every(isDeferred) || request.tools.some((tool) => tool.t === 'server' && tool.kind.startsWith('tool_search'))
  const choice = request.toolChoice
  if (choice?.mode === 'tool') loaded.add(choice.name)
  for (const { parts } of request.messages) for (const part of parts) if (part.t === 'tool_call') loaded.add(part.name)
  return request.tools
    .filter((tool) => unloadable || tool.t !== 'function' || tool.deferLoading !== true || loaded.has(tool.name))
    .map((tool) => {
      if (tool.t !== 'function' || tool.deferLoading === undefined) return tool
      const { deferLoading: _, ...rest } = tool
      return rest
    })
}

/** Returns the message with its references as text, and collects their names. */
function named(message: Frozen<Message>, loaded: Set<string>): Frozen<Message> {
  let changed = false
  const parts = message.parts.map((part) => {
    if (part.t !== 'tool_result' || !part.parts.some((inner) => referenceIn(inner) !== null)) return part
    changed = true
    return { ...part, parts: inWords(part.parts, loaded) }
  })
  return changed ? { ...message, parts } : message
}

/** Adjacent references share one text. */
function inWords(parts: readonly Frozen<Part>[], loaded: Set<string>): Frozen<Part>[] {
  const out: Frozen<Part>[] = []
  let names: string[] = []
  const flush = () => {
    if (names.length > 0) out.push({ t: 'text', text: `These tools are available now: ${names.join(', ')}.` })
    names = []
  }
  for (const part of parts) {
    const name = referenceIn(part)
    if (name === null) {
      flush()
      out.push(part)
      continue
    }
    loaded.add(name)
    names.push(name)
  }
  flush()
  return out
}

function referenceIn(part: Frozen<Part>): string | null {
  if (part.t !== 'opaque' || part.dialect !== 'messages' || !isObject(part.raw)) return null
  const { type, tool_name: name } = part.raw as JsonObject
  return type === 'tool_reference' && typeof name === 'string' && name !== '' ? name : null
}
