// temperature, top_p and top_k under the model's rules.
import type { CanonicalRequest, Frozen } from '../../../../core/types/canonical.ts'
import type { CodecContext } from '../../../../core/types/dialect.ts'
import type { Block } from '../response/block.ts'

/** The least top_p that goes with thinking. */
const THINKING_TOP_P = 0.95

export function encodeSampling(request: Frozen<CanonicalRequest>, thinking: boolean, codec: CodecContext): Block {
  const { temperature, topP, topK } = request.sampling
  if (codec.caps.sampling === 'none' || codec.caps.sampling === 'default_only') {
    if (temperature !== undefined && temperature !== 1) codec.warn('dropped_temperature')
    if (topP !== undefined && topP !== 1) codec.warn('dropped_top_p')
    if (topK !== undefined) codec.warn('dropped_top_k')
    return {}
  }
  if (thinking) return besideThinking(request, codec)
  const most = Math.min(codec.caps.temperatureMax ?? 1, 1)
  const clamped = temperature !== undefined && temperature > most
  if (clamped) codec.warn('temperature_clamped')
  // Newer models refuse both together.
  if (temperature !== undefined && topP !== undefined && topP !== 1) codec.warn('dropped_top_p')
  return {
    ...(temperature === undefined ? {} : { temperature: clamped ? most : temperature }),
    ...(topP === undefined || temperature !== undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  }
}

function besideThinking(request: Frozen<CanonicalRequest>, codec: CodecContext): Block {
  const { temperature, topP, topK } = request.sampling
  if (temperature !== undefined && temperature !== 1) codec.warn('dropped_temperature')
  if (topK !== undefined) codec.warn('dropped_top_k')
  if (topP === undefined) return {}
  if (topP >= THINKING_TOP_P && topP <= 1) return { top_p: topP }
  codec.warn('dropped_top_p')
  return {}
}
