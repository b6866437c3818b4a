// Model prices as price lists state them.

/** Nano-USD per 1M tokens, by kind. An absent kind has no price of its own. */
export interface TokenPrices {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
  reasoning?: number
  inputAudio?: number
  outputAudio?: number
  inputImage?: number
  outputImage?: number
}

export interface TieredPrices extends TokenPrices {
  /** Prices of a whole call whose prompt has more than `above` tokens, in ascending order. */
  tiers?: readonly (TokenPrices & { above: number })[]
}

export type ServiceTier = 'batch' | 'priority' | 'flex'

export interface ModelPrice extends TieredPrices {
  /** Prices of calls in these service tiers. */
  services?: Readonly<Partial<Record<ServiceTier, TieredPrices>>>
  /** Price of 1M searches by the provider's own tool. */
  webSearch?: number
}
