import { describe, expect, it } from 'vitest'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { JsonObject, Part, Signature } from '../../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { callsOf, codec, decode, deltaOf, driver, encodeEvents, framesOf, freeze, toolCall } from './support.ts'

const secret = (value: string, dialect: Signature['dialect'] = 'messages'): Signature => ({
  dialect,
  modelFamily: dialect === 'messages' ? 'claude' : 'gpt',
  value,
})
const thought = (text: string, signature: Signature): Part => ({ t: 'reasoning', text, signature })

/** Returns the whole message that a chat client gets for these parts. */
function whole(...parts: Part[]): JsonObject {
  const usage = { inputTotal: 1, cacheRead: 0, cacheWrite: 0, outputTotal: 1, total: 2, estimated: false, raw: null }
  const choices = [{ index: 0, parts, finish: 'tool_calls' as const, nativeFinish: 'tool_use' }]
  const response = freeze({ id: 'msg_1', created: 1, model: 'm', choices, usage, ext: {} })
  return JSON.parse(driver.encodeResponse(response, codec({ upstream: 'messages' }))).choices[0].message
}

/** The same message, joined from a stream. */
function streamed(...parts: Part[]): JsonObject {
  const events: StreamEvent[] = [{ e: 'start', id: 'x', model: 'm', created: 1 }]
  const writer = new PartWriter()
  const emit = (event: StreamEvent): void => void events.push(event)
  for (const [index, part] of parts.entries()) {
    if (part.t === 'reasoning') {
      for (const word of part.text.split(/(?<= )/)) writer.reasoning(0, word, emit)
      writer.signature(0, part.signature as Signature, emit)
      writer.closeAll(0, emit)
    } else if (part.t === 'tool_call') {
      writer.toolStart(0, index, { id: part.id, name: part.name }, emit)
      writer.toolArgs(0, index, part.args, emit)
      writer.toolStop(0, index, emit)
    }
  }
  events.push({ e: 'finish', choice: 0, finish: 'tool_calls', native: '' }, { e: 'end' })
  const message: JsonObject & { tool_calls: JsonObject[] } = { role: 'assistant', reasoning_content: '', tool_calls: [] }
  for (const delta of framesOf(encodeEvents(events)).frames.map(deltaOf)) {
    message.reasoning_content += (delta.reasoning_content as string | undefined) ?? ''
    for (const call of callsOf(delta)) {
      if (call.id !== undefined) message.tool_calls.push(call as unknown as JsonObject)
      else (message.tool_calls[call.index as number]!.function as { arguments: string }).arguments += call.function.arguments
    }
  }
  return message
}

/** Returns the decoded parts of the message that the client sends back. */
function back(message: JsonObject): Part[] {
  const { messages } = decode({ model: 'm', messages: [{ role: 'user', content: 'x' }, message] })
  return messages[1]?.parts ?? []
}

describe.each([
  ['whole', whole],
  ['streamed', streamed],
])('1.3: reasoning secrets through a chat client (%s)', (_, told) => {
  it('the first call behind the thoughts carries them, parallel calls and later ones do not repeat them', () => {
    const parts = [
      thought('Let me see. ', secret('one')),
      thought('Two calls, then.', secret('two')),
      toolCall('c1', 'f'),
      toolCall('c2', 'f'),
      thought('And a third.', secret('three')),
      toolCall('c3', 'f'),
    ]
    const message = told(...parts)
    expect(message.reasoning_content).toBe('Let me see. \n\nTwo calls, then.\n\nAnd a third.')
    expect(back(message)).toEqual(parts)
  })
})

describe('1.3: what a chat client sends back', () => {
  it('Anthropic’s secret is worth nothing without its text; OpenAI’s stands alone', () => {
    const without = (signature: Signature): Part[] => {
      const { reasoning_content: _, ...message } = whole(thought('Hm.', signature), toolCall('c1', 'f'))
      return back(message)
    }
    expect(without(secret('s'))).toEqual([toolCall('c1', 'f')])
    const alone = secret('s', 'responses')
    expect(without(alone)).toEqual([{ t: 'reasoning', text: '', signature: alone }, toolCall('c1', 'f')])
    expect(back(whole(thought('Hm.', alone), toolCall('c1', 'f')))[0]).toEqual({
      t: 'reasoning',
      text: '',
      summary: ['Hm.'],
      signature: alone,
    })
  })

  it('a thought without readable text travels as well', () => {
    const parts = [thought('', secret('hidden')), toolCall('c1', 'f')]
    expect(back(whole(...parts))).toEqual(parts)
  })

  it('a call of Gemini keeps its own secret', () => {
    const signature: Signature = { dialect: 'generate_content', modelFamily: 'gemini', value: 'g' }
    const message = whole(toolCall('c1', 'f', '{}', { signature }))
    expect(back(message)).toEqual([toolCall('c1', 'f', '{}', { signature })])
    const [call] = message.tool_calls as unknown as { extra_content: { google: { thought_signature: string } } }[]
    expect(unwrapSignature(call!.extra_content.google.thought_signature)).toEqual(signature)
  })

  it('an envelope with anything else in it is no thought', () => {
    for (const value of ['', 'x', '{}', '[[1]]', '[["a",2,"s"]]']) {
      const signature = secret(value || ' ', 'responses')
      expect(back(whole(toolCall('c1', 'f', '{}', { signature })))).toEqual([toolCall('c1', 'f')])
    }
  })
})
