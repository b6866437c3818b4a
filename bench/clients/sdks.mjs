// SDKs and frameworks: for each, a small program in sessions/ runs the tool loop and reads files with a function.
import { cpSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const DIALECTS = { chat: 'chat', responses: 'responses', messages: 'messages', google: 'generate_content' }

export const SDKS = [
  sdk('openai-sdk', 'OpenAI SDK', 'openai.mjs', 'chat', ['openai']),
  sdk('openai-sdk', 'OpenAI SDK', 'openai.mjs', 'responses', ['openai']),
  sdk('anthropic-sdk', 'Anthropic SDK', 'anthropic.mjs', 'messages', ['@anthropic-ai/sdk']),
  sdk('google-sdk', 'Google Gen AI SDK', 'google.mjs', 'google', ['@google/genai']),
  sdk('ai-sdk', 'Vercel AI SDK', 'ai-sdk.mjs', 'chat', ['ai', '@ai-sdk/openai', 'zod']),
  sdk('ai-sdk', 'Vercel AI SDK, as it comes', 'ai-sdk.mjs', 'responses', ['ai', '@ai-sdk/openai', 'zod']),
  {
    ...sdk('ai-sdk', 'Vercel AI SDK, `store: false`', 'ai-sdk.mjs', 'responses', ['ai', '@ai-sdk/openai', 'zod'], {
      CLIENT_STORE: 'false',
    }),
    id: 'ai-sdk-responses-unstored',
  },
  sdk('ai-sdk', 'Vercel AI SDK', 'ai-sdk.mjs', 'messages', ['ai', '@ai-sdk/anthropic', 'zod']),
  sdk('ai-sdk', 'Vercel AI SDK', 'ai-sdk.mjs', 'google', ['ai', '@ai-sdk/google', 'zod']),
  sdk('langchain', 'LangChain', 'langchain.mjs', 'chat', ['@langchain/openai', '@langchain/core', 'zod']),
  sdk('langchain', 'LangChain', 'langchain.mjs', 'responses', ['@langchain/openai', '@langchain/core', 'zod']),
  sdk('langchain', 'LangChain', 'langchain.mjs', 'messages', ['@langchain/anthropic', '@langchain/core', 'zod']),
  sdk('langchain', 'LangChain', 'langchain.mjs', 'google', ['@langchain/google-genai', '@langchain/core', 'zod']),
  sdk('openai-agents', 'OpenAI Agents SDK', 'agents.mjs', 'chat', ['@openai/agents', 'openai', 'zod']),
  sdk('openai-agents', 'OpenAI Agents SDK', 'agents.mjs', 'responses', ['@openai/agents', 'openai', 'zod']),
  agents('previous', '`previousResponseId`'),
  agents('conversation', '`conversationId`'),
  agents('session', 'a session'),
]

/** The gateway keeps the conversation. */
function agents(state, name) {
  const packages = ['@openai/agents', 'openai', 'zod']
  const row = sdk('openai-agents', `OpenAI Agents SDK, ${name}`, 'agents.mjs', 'responses', packages, { CLIENT_STATE: state })
  return { ...row, id: `${row.id}-${state}` }
}

function sdk(id, name, program, api, packages, more = {}) {
  return {
    id: `${id}-${api}`,
    name,
    dialect: DIALECTS[api],
    packages,
    tool: (offered, turn, paths) => (offered === 'read_note' ? { path: paths[turn] ?? paths[0] } : null),
    start({ url, model, place, prompt }) {
      // Node resolves packages from the folder of the program.
      const source = fileURLToPath(new URL(`./sessions/${program}`, import.meta.url))
      return {
        argv: [process.execPath, place.own ? source : copied(source, place.dir)],
        env: {
          CLIENT_API: api,
          CLIENT_URL: url,
          CLIENT_MODEL: model,
          CLIENT_PROMPT: prompt,
          OPENAI_AGENTS_DISABLE_TRACING: '1',
          ...more,
        },
      }
    },
  }
}

function copied(source, dir) {
  const target = join(dir, 'sessions', basename(source))
  mkdirSync(join(dir, 'sessions'), { recursive: true })
  cpSync(source, target)
  return target
}
