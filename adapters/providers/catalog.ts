// Lists the providers, one row each, sorted by id. Quirks are data. A provider has code only when it
// chooses a dialect or answers by itself (openai, echo), or where its credential has to be made (`cloud`).
import { claudeCaps } from './caps/claude.ts'
import { geminiCaps } from './caps/gemini.ts'
import { ANTHROPIC_IDS, LONGER_IDS } from './id-limits.ts'
import type { ProviderRow } from './provider.ts'

const LOCAL_SERVER = { replayReasoning: 'reasoning_content', systemFirstOnly: true, topK: true } as const

export const CATALOG: readonly ProviderRow[] = [
  { id: 'ai21', baseUrl: 'https://api.ai21.com/studio/v1' },
  { id: 'cerebras', baseUrl: 'https://api.cerebras.ai/v1', quirks: { noPenalties: true, replayReasoning: 'reasoning' } },
  { id: 'cloudflare', baseUrl: null, dialects: { chat: '', responses: '' } },
  { id: 'cohere', baseUrl: 'https://api.cohere.com/compatibility/v1' },
  {
    id: 'dashscope',
    aliases: ['qwen'],
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    dialects: { chat: '', responses: '', messages: 'https://dashscope-intl.aliyuncs.com/apps/anthropic' },
    quirks: { acceptsCacheControl: true, replayReasoning: 'reasoning_content', topK: true },
  },
  { id: 'databricks', baseUrl: null },
  { id: 'deepinfra', baseUrl: 'https://api.deepinfra.com/v1/openai', quirks: { topK: true } },
  {
    id: 'deepseek',
    baseUrl: 'https://api.deepseek.com',
    dialects: { chat: '', messages: 'https://api.deepseek.com/anthropic' },
    authByDialect: { messages: 'x-api-key' },
    quirks: { replayReasoning: 'reasoning_content' },
  },
  {
    id: 'fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    dialects: { chat: '', responses: '' },
    quirks: { topK: true },
  },
  { id: 'github-models', baseUrl: 'https://models.github.ai/inference' },
  {
    id: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    dialects: { chat: '', responses: '' },
    quirks: { noLogprobs: true, noMultipleChoices: true, maxStop: 4, replayReasoning: 'reasoning' },
  },
  { id: 'huggingface', baseUrl: 'https://router.huggingface.co/v1', dialects: { chat: '', responses: '' } },
  { id: 'hyperbolic', baseUrl: 'https://api.hyperbolic.xyz/v1' },
  { id: 'llamacpp', baseUrl: 'http://127.0.0.1:8080/v1', auth: 'none', quirks: LOCAL_SERVER },
  {
    id: 'lmstudio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    auth: 'none',
    dialects: { chat: '', responses: '' },
    quirks: { topK: true },
  },
  { id: 'localai', baseUrl: 'http://127.0.0.1:8080/v1', auth: 'none', quirks: LOCAL_SERVER },
  {
    id: 'minimax',
    baseUrl: 'https://api.minimax.io/v1',
    dialects: { chat: '', messages: 'https://api.minimax.io/anthropic' },
    quirks: { inlineThink: true },
  },
  {
    id: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    quirks: { toolIds: 'alnum9', toolChoiceRequired: 'any', systemFirstOnly: true, maxTokensField: 'max_tokens' },
  },
  {
    id: 'moonshot',
    baseUrl: 'https://api.moonshot.ai/v1',
    dialects: { chat: '', messages: 'https://api.moonshot.ai/anthropic' },
    quirks: { replayReasoning: 'reasoning_content' },
  },
  { id: 'nebius', baseUrl: 'https://api.tokenfactory.nebius.com/v1', quirks: { topK: true } },
  { id: 'novita', baseUrl: 'https://api.novita.ai/v3/openai', quirks: { topK: true } },
  { id: 'nvidia', baseUrl: 'https://integrate.api.nvidia.com/v1' },
  {
    id: 'ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    auth: 'none',
    dialects: { chat: '', responses: '', messages: '' },
    quirks: { topK: true, replayReasoning: 'reasoning', systemFirstOnly: true },
  },
  {
    id: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    dialects: { chat: '', responses: '', messages: '' },
    quirks: {
      acceptsCacheControl: true,
      acceptsPartArrays: true,
      replayReasoning: 'reasoning',
      topK: true,
      pdf: true,
      idLimits: LONGER_IDS,
    },
  },
  { id: 'perplexity', baseUrl: 'https://api.perplexity.ai', quirks: { systemFirstOnly: true } },
  { id: 'reka', baseUrl: 'https://api.reka.ai/v1', auth: 'x-api-key' },
  { id: 'sambanova', baseUrl: 'https://api.sambanova.ai/v1' },
  { id: 'sglang', baseUrl: 'http://127.0.0.1:30000/v1', auth: 'none', quirks: LOCAL_SERVER },
  { id: 'siliconflow', baseUrl: 'https://api.siliconflow.com/v1', quirks: { topK: true, replayReasoning: 'reasoning_content' } },
  { id: 'together', baseUrl: 'https://api.together.xyz/v1', quirks: { topK: true } },
  { id: 'upstage', baseUrl: 'https://api.upstage.ai/v1' },
  { id: 'vercel-gateway', baseUrl: 'https://ai-gateway.vercel.sh/v1', dialects: { chat: '', responses: '', messages: '' } },
  {
    id: 'vllm',
    baseUrl: 'http://127.0.0.1:8000/v1',
    auth: 'none',
    dialects: { chat: '', responses: '', messages: '' },
    quirks: LOCAL_SERVER,
  },
  {
    id: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    dialects: { chat: '', responses: '' },
    quirks: { reasoningOutsideCompletion: true },
  },
  {
    id: 'zai',
    aliases: ['zhipu'],
    baseUrl: 'https://api.z.ai/api/paas/v4',
    dialects: { chat: '', messages: 'https://api.z.ai/api/anthropic' },
    authByDialect: { messages: 'x-api-key' },
    quirks: { replayReasoning: 'reasoning_content', idLimits: LONGER_IDS },
  },
  // Vendors without a chat model of their own.
  { id: 'black-forest-labs', aliases: ['bfl'], baseUrl: 'https://api.bfl.ai/v1', auth: 'x-key', dialects: {} },
  { id: 'brave', baseUrl: 'https://api.search.brave.com', auth: 'x-subscription-token', dialects: {} },
  { id: 'deepgram', baseUrl: 'https://api.deepgram.com/v1', auth: 'token', dialects: {} },
  { id: 'elevenlabs', baseUrl: 'https://api.elevenlabs.io', auth: 'xi-api-key', dialects: {} },
  { id: 'exa', baseUrl: 'https://api.exa.ai', auth: 'x-api-key', dialects: {} },
  { id: 'firecrawl', baseUrl: 'https://api.firecrawl.dev/v2', dialects: {} },
  { id: 'google-pse', baseUrl: 'https://www.googleapis.com', auth: 'x-goog-api-key', dialects: {} },
  { id: 'jina', baseUrl: 'https://api.jina.ai/v1', dialects: {} },
  { id: 'linkup', baseUrl: 'https://api.linkup.so/v1', dialects: {} },
  { id: 'mixedbread', baseUrl: 'https://api.mixedbread.com/v1', dialects: {} },
  { id: 'recraft', baseUrl: 'https://external.api.recraft.ai/v1', dialects: {} },
  { id: 'searxng', baseUrl: null, auth: 'none', dialects: {} },
  { id: 'serper', baseUrl: 'https://google.serper.dev', auth: 'x-api-key', dialects: {} },
  { id: 'stability', baseUrl: 'https://api.stability.ai', dialects: {} },
  { id: 'tavily', baseUrl: 'https://api.tavily.com', dialects: {} },
  { id: 'voyage', baseUrl: 'https://api.voyageai.com/v1', dialects: {} },
]

export const ANTHROPIC: ProviderRow = {
  id: 'anthropic',
  aliases: ['claude'],
  baseUrl: 'https://api.anthropic.com/v1',
  auth: 'x-api-key',
  dialects: { messages: '' },
  quirks: { idLimits: ANTHROPIC_IDS },
  caps: claudeCaps,
}

export const GOOGLE: ProviderRow = {
  id: 'google',
  aliases: ['gemini'],
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  auth: 'x-goog-api-key',
  dialects: { generate_content: '' },
  quirks: { imageUrl: 'inline', modelIsOneSegment: true },
  caps: geminiCaps,
}
