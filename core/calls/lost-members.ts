// Finds scalar members of a request that its encoding in another dialect does not have. Encoders omit some of them without a warning,
// because most callers set them by habit.
import type { CanonicalRequest, Frozen } from '../types/request/canonical.ts'

type Request = Frozen<CanonicalRequest>

const MEMBERS: Readonly<Record<string, (request: Request) => unknown>> = {
  temperature: ({ sampling }) => sampling.temperature,
  top_p: ({ sampling }) => sampling.topP,
  top_k: ({ sampling }) => sampling.topK,
  frequency_penalty: ({ sampling }) => sampling.frequencyPenalty,
  presence_penalty: ({ sampling }) => sampling.presencePenalty,
  logit_bias: ({ sampling }) => sampling.logitBias,
  seed: ({ sampling }) => sampling.seed,
  n: ({ sampling }) => (sampling.n === 1 ? undefined : sampling.n),
  stop: ({ stop }) => (stop?.length ? stop : undefined),
  max_tokens: ({ maxTokens }) => maxTokens,
  verbosity: ({ verbosity }) => verbosity,
  logprobs: ({ logprobs }) => logprobs?.enabled || undefined,
  metadata: ({ metadata }) => metadata,
}

/** @param written the encoding, decoded again. Returns slugs as encoders use them: `dropped_top_k`. */
export function lostMembers(request: Request, written: Request): string[] {
  return Object.entries(MEMBERS).flatMap(([name, of]) =>
    of(request) !== undefined && of(written) === undefined ? [`dropped_${name}`] : [],
  )
}
