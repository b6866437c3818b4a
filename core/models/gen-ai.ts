// Names and buckets of the OpenTelemetry conventions for generative AI, for every metrics exporter.

/** Provider ids for which the conventions define another name. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshot: 'moonshot_ai',
}

/** Stands in metrics for a provider that an organization named itself. */
export const CUSTOM_PROVIDER = 'custom'

export function providerName(provider: string): string {
  return PROVIDERS[provider] ?? provider
}

export const GEN_AI_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
export const GEN_AI_TOKENS = [
  ...[1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144],
  ...[1_048_576, 4_194_304, 16_777_216, 67_108_864],
]
