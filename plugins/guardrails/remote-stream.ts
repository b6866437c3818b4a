// Holds a streamed answer for remote detectors until each of its texts is complete and inspected.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Part } from '../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'
import type { InfoText } from './remote.ts'
import { mapPartTexts } from './texts.ts'

/** Maximum held characters; a longer answer cannot be inspected. */
const MAX_HELD = 1 << 20

export class HeldStream {
  readonly #judge: (texts: readonly InfoText[]) => Promise<string[]>
  #held: StreamEvent[] = []
  #size = 0

  constructor(judge: (texts: readonly InfoText[]) => Promise<string[]>) {
    this.#judge = judge
  }

  /** Returns the events that may be sent. @throws GatewayError with a detector's decision. */
  async events(events: readonly StreamEvent[]): Promise<StreamEvent[]> {
    let over = false
    for (const event of events) {
      this.#held.push(event)
      if (event.e === 'delta') this.#size += JSON.stringify(event.d).length
      if (event.e === 'finish' || event.e === 'end') over = true
    }
    if (this.#size > MAX_HELD)
      throw GatewayError.unavailable('The answer is too long for a guardrail to judge.', { code: 'plugin_failed' })
    if (!over) return []
    const held = this.#held
    this.#held = []
    this.#size = 0
    return this.#judged(held)
  }

  async #judged(events: readonly StreamEvent[]): Promise<StreamEvent[]> {
    const texts: InfoText[] = []
    const wholes = new Map<string, Part>()
    const collect = (text: string, info: InfoText['info']): string => {
      texts.push({ text, info })
      return text
    }
    for (const event of events) if (event.e === 'part_stop') mapPartTexts(event.full, collect)
    const judged = await this.#judge(texts)
    let next = 0
    for (const event of events)
      if (event.e === 'part_stop') {
        const full = mapPartTexts(event.full, () => judged[next++] as string)
        if (full !== event.full) wholes.set(`${event.choice} ${event.part}`, full)
      }
    return events.flatMap((event) => withWholes(event, wholes))
  }
}

function changesIn(choice: number, wholes: ReadonlyMap<string, Part>): Part[] {
  return [...wholes].filter(([key]) => key.startsWith(`${choice} `)).map(([, part]) => part)
}

/** After a changed thought, the vendor's further details are dropped. */
function saysNoMore(event: StreamEvent, wholes: ReadonlyMap<string, Part>): StreamEvent {
  if (event.e !== 'part_stop' || event.full.t !== 'reasoning' || event.full.ext === undefined) return event
  if (!changesIn(event.choice, wholes).some(({ t }) => t === 'reasoning')) return event
  const { ext, ...full } = event.full
  return { ...event, full }
}

/** A changed part is sent in one piece, directly before its end. */
function withWholes(event: StreamEvent, wholes: ReadonlyMap<string, Part>): StreamEvent[] {
  if (event.e === 'finish') return [changesIn(event.choice, wholes).length > 0 ? { ...event, ext: {} } : event]
  if (event.e !== 'delta' && event.e !== 'part_stop') return [event]
  const full = wholes.get(`${event.choice} ${event.part}`)
  if (full === undefined) return [saysNoMore(event, wholes)]
  if (event.e === 'delta') return []
  const { choice, part } = event
  const delta = (d: Extract<StreamEvent, { e: 'delta' }>['d']): StreamEvent => ({ e: 'delta', choice, part, d })
  const stop: StreamEvent = { ...event, full }
  if (full.t === 'text') return [delta({ text: full.text }), stop]
  if (full.t === 'refusal') return [delta({ refusal: full.text }), stop]
  if (full.t === 'tool_call') return [delta({ args: full.args }), stop]
  if (full.t !== 'reasoning') return [stop]
  const summary = full.summary?.join('\n\n')
  return [...(full.text ? [delta({ reasoning: full.text })] : []), ...(summary ? [delta({ summary })] : []), stop]
}
