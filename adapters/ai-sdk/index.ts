// hookgate/ai-sdk: a provider of the Vercel AI SDK for the models of a gateway, in process or by address.
import type {
  EmbeddingModelV3,
  ImageModelV3,
  LanguageModelV3,
  ProviderV3,
  SpeechModelV3,
  TranscriptionModelV3,
} from '@ai-sdk/provider'
import { speechModel, transcriptionModel } from './audio-models.ts'
import { embeddingModel, imageModel, languageModel } from './compatible-models.ts'
import { connectionOf, type HookgateOptions } from './connection.ts'

export type { GatewayByAddress, GatewayInProcess, HookgateOptions } from './connection.ts'
export type { HookgateFacts } from './facts.ts'

/** Model ids are those of the gateway: a virtual model (`coder`) or `<provider>/<model>`. */
export interface HookgateProvider extends ProviderV3 {
  (modelId: string): LanguageModelV3
  languageModel(modelId: string): LanguageModelV3
  embeddingModel(modelId: string): EmbeddingModelV3
  textEmbeddingModel(modelId: string): EmbeddingModelV3
  imageModel(modelId: string): ImageModelV3
  speechModel(modelId: string): SpeechModelV3
  transcriptionModel(modelId: string): TranscriptionModelV3
}

/** @throws TypeError when `baseURL` is no http address */
export function createHookgate(options: HookgateOptions): HookgateProvider {
  const connection = connectionOf(options)
  const chat = (modelId: string): LanguageModelV3 => languageModel(connection, modelId)
  const embedding = (modelId: string): EmbeddingModelV3 => embeddingModel(connection, modelId)
  return Object.assign((modelId: string) => chat(modelId), {
    specificationVersion: 'v3' as const,
    languageModel: chat,
    embeddingModel: embedding,
    textEmbeddingModel: embedding,
    imageModel: (modelId: string) => imageModel(connection, modelId),
    speechModel: (modelId: string) => speechModel(connection, modelId),
    transcriptionModel: (modelId: string) => transcriptionModel(connection, modelId),
  })
}
