// Encodes structured output: as a format when the model supports it, otherwise as a forced tool whose call is unwrapped on the way back,
// otherwise as an instruction.
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { type InputSchema, inputSchema, outputSchema } from './schemas.ts'

export interface OutputPlan {
  /** `output_config.format`. */
  format?: JsonObject
  /** The tool whose call carries the answer. */
  tool?: InputSchema & { description: string }
  /** A line for the end of the system prompt. */
  instruction?: string
}

export function planOutput(request: Frozen<CanonicalRequest>, codec: CodecContext): OutputPlan {
  const { output } = request
  if (output?.kind === 'json_object') {
    codec.warn('json_object_as_instruction')
    return { instruction: 'Respond with one JSON object only.' }
  }
  if (output?.kind !== 'json_schema') return {}
  if (codec.caps.structuredOutputs === false) {
    return {
      tool: {
        ...inputSchema(output.schema),
        description: output.description ?? 'Gives the final answer. Call it once, with the complete answer.',
      },
    }
  }
  const schema = request.source === 'messages' ? ((output.schema ?? {}) as JsonObject) : outputSchema(output.schema)
  return { format: { type: 'json_schema', schema } }
}
