// temperature, top_p and top_k under the model's rules.
import type { CanonicalRequest, Frozen } from '../../../core/types/canonical.ts'
import type { Hop } from '../../../core/types/dialect.ts'
import type { Block } from './block.ts'

/** The least top_p that goes with thinking. */
const THINKING_TOP_P = 0.95

export function encodeSampling(request: Frozen<CanonicalRequest>, thinking: boolean, hop: Hop): Block {
  const { temperature, topP, topK } = request.sampling
  if (hop.caps.sampling === 'none' || hop.caps.sampling === 'default_only') {
    if (temperature !== undefined && temperature !== 1) hop.warn('dropped_temperature')
    if (topP !== undefined && topP !== 1) hop.warn('dropped_top_p')
    if (topK !== undefined) hop.warn('dropped_top_k')
    return {}
  }
  if (thinking) return besideThinking(request, hop)
  const most = Math.min(hop.caps.temperatureMax ?? 1, 1)
  const clamped = temperature !== undefined && temperature > most
  if (clamped) hop.warn('temperature_clamped')
  // Newer models refuse both together.
  if (temperature !== undefined && topP !== undefined && topP !== 1) hop.warn('dropped_top_p')
  return {
    ...(temperature === undefined ? {} : { temperature: clamped ? most : temperature }),
    ...(topP === undefined || temperature !== undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  }
}

function besideThinking(request: Frozen<CanonicalRequest>, hop: Hop): Block {
  const { temperature, topP, topK } = request.sampling
  if (temperature !== undefined && temperature !== 1) hop.warn('dropped_temperature')
  if (topK !== undefined) hop.warn('dropped_top_k')
  if (topP === undefined) return {}
  if (topP >= THINKING_TOP_P && topP <= 1) return { top_p: topP }
  hop.warn('dropped_top_p')
  return {}
}
