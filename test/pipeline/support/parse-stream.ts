// Parses a stream as a client does: with official SDKs that accept our fetch, otherwise with their accumulation.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Dialect } from '../../../core/types/request/canonical.ts'

export interface Parsed {
  text: string
  calls: { id: string; name: string; args: unknown }[]
  stopped: 'stop' | 'tool_calls'
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export async function parseStream(caller: Dialect, model: string, fetch: Fetch): Promise<Parsed> {
  return PARSERS[caller](model, fetch)
}

const PARSERS: Record<Dialect, (model: string, fetch: Fetch) => Promise<Parsed>> = {
  async chat(model, fetch) {
    const client = new OpenAI({ apiKey: 'sk-client', baseURL: 'http://gateway.test/v1', maxRetries: 0, fetch })
    const runner = client.chat.completions.stream({ model, messages: [{ role: 'user', content: 'hi' }], stream: true })
    const [choice] = (await runner.finalChatCompletion()).choices
    const calls = (choice?.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) as unknown }]
        : [],
    )
    return { text: choice?.message.content ?? '', calls, stopped: choice?.finish_reason === 'tool_calls' ? 'tool_calls' : 'stop' }
  },

  async messages(model, fetch) {
    const client = new Anthropic({ apiKey: 'sk-client', baseURL: 'http://gateway.test', maxRetries: 0, fetch })
    const runner = client.messages.stream({ model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] })
    const message = await runner.finalMessage()
    return {
      text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: message.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, args: block.input }] : [],
      ),
      stopped: message.stop_reason === 'tool_use' ? 'tool_calls' : 'stop',
    }
  },

  async responses(model, fetch) {
    const client = new OpenAI({ apiKey: 'sk-client', baseURL: 'http://gateway.test/v1', maxRetries: 0, fetch })
    const response = await client.responses.stream({ model, input: 'hi' }).finalResponse()
    const calls = response.output.flatMap((item) =>
      item.type === 'function_call' ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) as unknown }] : [],
    )
    if (response.status !== 'completed') throw new Error(`status ${response.status}`)
    return { text: response.output_text, calls, stopped: calls.length > 0 ? 'tool_calls' : 'stop' }
  },

  /** The SDK has no fetch option, so this repeats its steps: JSON per `data:` event, parts concatenated. */
  async generate_content(model, fetch) {
    const response = await fetch(`http://gateway.test/v1beta/models/${model}:streamGenerateContent?alt=sse`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}',
    })
    const parsed: Parsed = { text: '', calls: [], stopped: 'stop' }
    let finish: unknown
    for (const event of (await response.text()).split(/\r?\n\r?\n/)) {
      if (!event.startsWith('data: ')) continue
      const { candidates = [], error } = JSON.parse(event.slice(6)) as { candidates?: Candidate[]; error?: { message: string } }
      if (error) throw new Error(error.message)
      finish = candidates[0]?.finishReason ?? finish
      for (const part of candidates[0]?.content?.parts ?? []) {
        if (part.functionCall)
          parsed.calls.push({ id: part.functionCall.id ?? '', name: part.functionCall.name, args: part.functionCall.args ?? {} })
        else if (!part.thought) parsed.text += part.text ?? ''
      }
    }
    if (finish !== 'STOP') throw new Error(`finishReason ${String(finish)}`)
    if (parsed.calls.length > 0) parsed.stopped = 'tool_calls'
    return parsed
  },
}

interface Candidate {
  content?: { parts?: { text?: string; thought?: boolean; functionCall?: { id?: string; name: string; args?: unknown } }[] }
  finishReason?: string
}
