// Speech of Google's API: `generateContent` with audio as output. It answers with raw samples, so the formats are `wav` and `pcm`.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { tokenCount } from '../../../core/models/token-count.ts'
import { base64Bytes, concatBytes } from '../../../core/text/bytes.ts'
import type { OperationCodec } from '../../../core/types/operations/operation.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { missing, parsed } from '../shared/answers.ts'
import { blockReason } from '../shared/google.ts'
import { leftOut } from '../shared/left-out.ts'
import { usageOf } from '../shared/usage.ts'

/** Samples per second when the vendor does not say. */
const RATE = 24_000

export const googleSpeech: OperationCodec<'speech'> = async (request, upstream) => {
  const { input, voice, format, instructions, speed, sse, extra } = request
  if (sse) throw GatewayError.unsupported('stream_format', 'This model’s provider sends whole audio, not events.')
  if (format !== undefined && format !== 'wav' && format !== 'pcm')
    throw GatewayError.unsupported('response_format', 'This model’s provider makes `wav` and `pcm`.')
  if (format === undefined) upstream.codec.warn('response_format_wav')
  leftOut(upstream.codec, { instructions, speed })
  const body = {
    contents: [{ role: 'user', parts: [{ text: input }] }],
    generationConfig: {
      ...(extra as JsonObject),
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
    },
  }
  const json = parsed(await upstream.send({ path: `/v1beta/models/${upstream.segment}:generateContent`, body }))
  const refused = blockReason(json)
  if (refused !== '') throw GatewayError.upstream(400, `The vendor refused the text: ${refused}.`)
  const { samples, rate } = samplesIn(json)
  const usage = usageOf({ ...tokensIn(json.usageMetadata), units: { characters: [...input].length } })
  const wav = format !== 'pcm'
  const audio = wav ? concatBytes([wavHeader(samples.length, rate), samples]) : samples
  return { usage, answer: () => ({ model: upstream.model, usage, contentType: wav ? 'audio/wav' : 'audio/pcm', audio }) }
}

function samplesIn({ candidates }: JsonObject): { samples: Uint8Array; rate: number } {
  if (!Array.isArray(candidates)) throw missing('candidates')
  const parts = candidates
    .filter(isObject)
    .flatMap(({ content }) => (isObject(content) && Array.isArray(content.parts) ? content.parts : []))
  const audio = parts
    .filter(isObject)
    .flatMap(({ inlineData }) => (isObject(inlineData) && typeof inlineData.data === 'string' ? [inlineData] : []))
  if (audio.length === 0) throw GatewayError.upstream(400, 'The model made no audio: its filters may have refused the text.')
  const rate = Number(/rate=(\d{4,6})/.exec(loose(audio[0]?.mimeType) ?? '')?.[1] ?? RATE)
  return { samples: concatBytes(audio.map(({ data }) => decoded(data as string))), rate }
}

function decoded(data: string): Uint8Array {
  const bytes = base64Bytes(data)
  if (bytes === null) throw GatewayError.protocol('The upstream sent audio that is not base64.')
  return bytes
}

function tokensIn(usage: Json | undefined): { input?: number; output?: number; raw?: Json } {
  if (!isObject(usage)) return {}
  return { input: tokenCount(usage.promptTokenCount) ?? 0, output: tokenCount(usage.candidatesTokenCount) ?? 0, raw: usage }
}

/** The header of a RIFF file with 16-bit samples of one channel. */
function wavHeader(bytes: number, rate: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(44))
  const text = (at: number, word: string): void => {
    for (let i = 0; i < word.length; i++) header.setUint8(at + i, word.charCodeAt(i))
  }
  text(0, 'RIFF')
  header.setUint32(4, 36 + bytes, true)
  text(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, rate, true)
  header.setUint32(28, rate * 2, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  text(36, 'data')
  header.setUint32(40, bytes, true)
  return new Uint8Array(header.buffer)
}
