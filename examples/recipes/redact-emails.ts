// Removes e-mail addresses from the texts of answers. In a stream, an unfinished word is held back until the next chunk completes it.
import { definePlugin } from 'hookgate'
import type { Frozen, Part } from 'hookgate/core'

const clean = (text: string) => text.replace(/[\w.+-]+@[\w-]+(\.[\w-]+)+/g, '[e-mail]')
/** Keep only the text: citations and the vendor's own copy (`ext`) may contain the address. */
const cleanPart = (part: Frozen<Part>) => (part.t === 'text' ? { t: 'text' as const, text: clean(part.text) } : part)

export const redactEmails = definePlugin({
  name: 'redact-emails',
  setup(gateway) {
    gateway.hook(
      'response',
      (_ctx, response) => ({
        ...response,
        ext: {},
        choices: response.choices.map(({ ext: _, logprobs: __, ...choice }) => ({
          ...choice,
          parts: choice.parts.map(cleanPart),
        })),
      }),
      { operation: 'chat' },
    )
    gateway.hook('stream', () => {
      const held = new Map<string, string>()
      return {
        event(event, emit) {
          if (event.e === 'delta' && 'text' in event.d) {
            const part = `${event.choice}.${event.part}`
            const text = (held.get(part) ?? '') + event.d.text
            // A word of more than 256 characters is not an address, so the memory of a stream stays limited.
            const end = text.length > 256 ? text.length : Math.max(text.lastIndexOf(' '), text.lastIndexOf('\n')) + 1
            held.set(part, text.slice(end))
            if (end > 0) emit({ ...event, d: { text: clean(text.slice(0, end)) } })
          } else if (event.e === 'part_stop') {
            const rest = held.get(`${event.choice}.${event.part}`)
            if (rest) emit({ e: 'delta', choice: event.choice, part: event.part, d: { text: clean(rest) } })
            emit({ ...event, full: cleanPart(event.full) as Part })
          } else if (event.e === 'delta') {
            if (!('logprobs' in event.d || 'annotation' in event.d)) emit(event)
          } else emit('ext' in event ? { ...event, ext: {} } : event)
        },
      }
    })
  },
})
