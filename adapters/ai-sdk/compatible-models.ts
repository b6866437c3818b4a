// Chat, embedding and image models: those of @ai-sdk/openai-compatible over the gateway, with its facts in their metadata.
import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'
import type { EmbeddingModelV3, ImageModelV3, LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { Connection, TrackedCall } from './connection.ts'
import { factsOf } from './facts.ts'

/** Returns the library's provider for one call. */
function over({ base, headers }: Connection, { send }: TrackedCall): OpenAICompatibleProvider {
  return createOpenAICompatible({
    name: 'hookgate',
    baseURL: base,
    headers: { ...headers },
    fetch: send,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
}

export function languageModel(connection: Connection, modelId: string): LanguageModelV3 {
  const { provider, supportedUrls } = over(connection, connection.track()).languageModel(modelId)
  return {
    specificationVersion: 'v3',
    provider,
    modelId,
    supportedUrls,
    async doGenerate(options) {
      const call = connection.track()
      const result = await over(connection, call).languageModel(modelId).doGenerate(options)
      return { ...result, providerMetadata: withFacts(result.providerMetadata, await factsOf(call)) }
    },
    async doStream(options) {
      const call = connection.track()
      const result = await over(connection, call).languageModel(modelId).doStream(options)
      return { ...result, stream: result.stream.pipeThrough(finishing(call)) }
    },
  }
}

/** Adds the facts to the last part: only then are they known. */
function finishing(call: TrackedCall): TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart> {
  return new TransformStream({
    async transform(part, controller) {
      if (part.type !== 'finish') return controller.enqueue(part)
      controller.enqueue({ ...part, providerMetadata: withFacts(part.providerMetadata, await factsOf(call)) })
    },
  })
}

export function embeddingModel(connection: Connection, modelId: string): EmbeddingModelV3 {
  const { provider, maxEmbeddingsPerCall, supportsParallelCalls } = over(connection, connection.track()).embeddingModel(modelId)
  return {
    specificationVersion: 'v3',
    provider,
    modelId,
    maxEmbeddingsPerCall,
    supportsParallelCalls,
    async doEmbed(options) {
      const call = connection.track()
      const result = await over(connection, call).embeddingModel(modelId).doEmbed(options)
      return { ...result, providerMetadata: withFacts(result.providerMetadata, await factsOf(call)) }
    },
  }
}

export function imageModel(connection: Connection, modelId: string): ImageModelV3 {
  const { provider, maxImagesPerCall } = over(connection, connection.track()).imageModel(modelId)
  return {
    specificationVersion: 'v3',
    provider,
    modelId,
    maxImagesPerCall,
    async doGenerate(options) {
      const call = connection.track()
      const result = await over(connection, call).imageModel(modelId).doGenerate(options)
      // The AI SDK keeps of a provider's metadata only `images`: one entry for each image.
      const facts = await factsOf(call)
      return { ...result, providerMetadata: { ...result.providerMetadata, hookgate: { images: result.images.map(() => facts) } } }
    },
  }
}

type Metadata = NonNullable<Awaited<ReturnType<LanguageModelV3['doGenerate']>>['providerMetadata']>

function withFacts(known: Metadata | undefined, facts: Metadata[string]): Metadata {
  return { ...known, hookgate: { ...known?.hookgate, ...facts } }
}
