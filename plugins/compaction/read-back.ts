// Puts the content of the gateway's compaction items back into a conversation, as developer messages that every upstream understands.
import type { Frozen, JsonObject, Message, Part } from '../../core/types/request/canonical.ts'
import { sealedIn } from './sealed.ts'

type Open = (sealed: string) => Promise<string>

/** Returns null when there is no such item. */
export async function withDigests(messages: readonly Frozen<Message>[], open: Open): Promise<Message[] | null> {
  const result: Message[] = []
  let found = false
  for (const message of messages) {
    let parts: Part[] = []
    const rest = (): void => {
      if (parts.length > 0) result.push({ ...(message as Message), parts })
      parts = []
    }
    for (const part of message.parts) {
      const sealed = part.t === 'opaque' && part.dialect === 'responses' ? sealedIn(part.raw) : null
      if (sealed === null) {
        parts.push(part as Part)
        continue
      }
      found = true
      rest()
      const text = await open(sealed)
      // A short conversation has nothing that is shortened.
      if (text !== '') result.push({ role: 'developer', parts: [{ t: 'text', text }] })
    }
    rest()
  }
  return found ? result : null
}

/** The same for items of the responses dialect. */
export async function itemsWithDigests(items: readonly Frozen<JsonObject>[], open: Open): Promise<JsonObject[] | null> {
  if (items.every((item) => sealedIn(item) === null)) return null
  const read = await Promise.all(
    items.map(async (item): Promise<JsonObject[]> => {
      const sealed = sealedIn(item)
      if (sealed === null) return [item as JsonObject]
      const text = await open(sealed)
      return text === '' ? [] : [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text }] }]
    }),
  )
  return read.flat()
}
