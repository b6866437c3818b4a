// The setup of the matrix: one scripted vendor behind one real gateway on a real port, a connection for each upstream dialect under a
// usual provider and model, and one caller for each SDK.
import type { RecordedRequest } from '../../adapters/testing/script.ts'
import type { ScriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
import type { Plugin } from '../../core/types/plugin/plugin.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { freshAccounts } from '../support/fresh-accounts.ts'
import type { Caller } from './callers/caller.ts'
import { chatCaller } from './callers/chat.ts'
import { generateContentCaller } from './callers/generate-content.ts'
import { messagesCaller } from './callers/messages.ts'
import { responsesCaller } from './callers/responses.ts'
import type { Ask } from './neutral.ts'
import { readChat } from './readers/chat.ts'
import { readGenerateContent } from './readers/generate-content.ts'
import { readMessages } from './readers/messages.ts'
import { readResponses } from './readers/responses.ts'
import { FETCHED } from './represent.ts'

export const MODELS: Readonly<Record<Dialect, string>> = {
  chat: 'openai/gpt-4.1-mini',
  messages: 'anthropic/claude-sonnet-4-6',
  responses: 'openai/gpt-5.6-mini',
  generate_content: 'google/gemini-3-flash',
}

/** OpenAI shows no reasoning on its chat endpoint, so that cell uses a vendor that does. */
export const REASONING_MODELS: Readonly<Record<Dialect, string>> = { ...MODELS, chat: 'deepseek/deepseek-v4' }

export const READERS: Readonly<Record<Dialect, (request: RecordedRequest) => Ask>> = {
  chat: readChat,
  messages: readMessages,
  responses: readResponses,
  generate_content: readGenerateContent,
}

export interface World {
  readonly upstream: ScriptedUpstream
  readonly url: string
  readonly callers: Readonly<Record<Dialect, Caller>>
  close(): Promise<void>
}

/** `plugins`: additional ones, listed after the preset. */
export async function startWorld(plugins: Plugin[] = []): Promise<World> {
  const upstream = await scriptedUpstream()
  const at = (dialect: Dialect) => ({ baseUrl: upstream.baseUrl(dialect), wireFormat: dialect, apiKey: 'sk-upstream' })
  const gateway = await createTestGateway({
    config: {
      connections: {
        'openai-chat': { provider: 'openai', ...at('chat'), allowedModels: ['gpt-4.1*'] },
        'openai-responses': { provider: 'openai', ...at('responses'), allowedModels: ['gpt-5*'] },
        deepseek: { provider: 'deepseek', ...at('chat') },
        anthropic: { provider: 'anthropic', ...at('messages') },
        google: { provider: 'google', ...at('generate_content') },
      },
    },
    plugins: [freshAccounts(), ...plugins],
    ports: { fetchMedia: async () => ({ mime: FETCHED.mime, data: FETCHED.data }) },
  })
  const { url } = await gateway.listen()
  return {
    upstream,
    url,
    callers: {
      chat: chatCaller(url),
      messages: messagesCaller(url),
      responses: responsesCaller(url),
      generate_content: generateContentCaller(url),
    },
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}

export function pathOf(upstream: Dialect, model: string, stream: boolean): string {
  switch (upstream) {
    case 'chat':
      return '/v1/chat/completions'
    case 'messages':
      return '/v1/messages'
    case 'responses':
      return '/v1/responses'
    case 'generate_content':
      return `/v1beta/models/${model.slice(model.indexOf('/') + 1)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
  }
}

/** Returns the headers that carry a credential, with their values. */
export function credentials({ headers }: RecordedRequest): Record<string, unknown> {
  const names = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))
}
