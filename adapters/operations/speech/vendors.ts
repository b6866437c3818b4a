// Speech at OpenAI-like vendors, ElevenLabs and Deepgram. The audio passes on while it arrives.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type {
  OperationCodec,
  OperationReply,
  OperationUpstream,
  UpstreamRequest,
} from '../../../core/types/operations/operation.ts'
import type { SpeechAnswer, SpeechRequest } from '../../../core/types/operations/operations.ts'
import type { MediaUnits, Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { passedEvents, usageWatch } from '../shared/events.ts'
import { begun, collected, passedOn } from '../shared/frames.ts'
import { leftOut } from '../shared/left-out.ts'
import { reportedUsage, usageOf } from '../shared/usage.ts'
import { spokenUnits } from './spoken.ts'

const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

type Asked = Frozen<SpeechRequest>

const formatOf = ({ format = 'mp3' }: Asked): string => format

async function streamed(
  request: Asked,
  upstream: OperationUpstream,
  call: UpstreamRequest,
): Promise<OperationReply<SpeechAnswer>> {
  const units = spokenUnits(request)
  const usage = usageOf({ units })
  const type = request.sse ? 'text/event-stream; charset=utf-8' : (TYPES[formatOf(request)] as string)
  const answer = await begun(await upstream.stream({ ...call, accept: request.sse ? 'text/event-stream' : type }))
  const given = answer.headers.get('content-type') ?? ''
  // Some vendors ignore `stream_format`: the gateway writes the events.
  const ignored = request.sse && given.startsWith('audio/')
  if (upstream.whole || ignored) {
    const audio = await collected(answer.chunks)
    return { usage, answer: () => ({ model: upstream.model, usage, contentType: ignored ? given : type, audio }) }
  }
  const watch = usageWatch()
  return {
    usage,
    answer: () => ({ model: upstream.model, usage, contentType: type, audio: new Uint8Array(0) }),
    stream: {
      contentType: type,
      source: request.sse ? passedEvents(answer, watch.seen) : passedOn(answer),
      usage: () => reported(watch.last(), units) ?? usage,
    },
  }
}

/** Returns the usage of the last event. All its output is audio. */
function reported(wire: Json | undefined, { characters }: MediaUnits): Usage | null {
  const usage = reportedUsage(wire, { characters })
  return usage === null ? null : { ...usage, outputAudio: usage.outputTotal }
}

export const openaiSpeech: OperationCodec<'speech'> = async (request, upstream) => {
  const { wire } = upstream
  wire?.set('model', upstream.model)
  return streamed(request, upstream, { path: '/audio/speech', body: wire ?? bodyOf(request, upstream.model) })
}

function bodyOf({ input, voice, format, instructions, speed, sse, extra }: Asked, model: string): JsonObject {
  return {
    ...(extra as JsonObject),
    model,
    input,
    voice,
    response_format: format ?? 'mp3',
    ...(instructions === undefined ? {} : { instructions }),
    ...(speed === undefined ? {} : { speed }),
    ...(sse ? { stream_format: 'sse' } : {}),
  }
}

const ELEVEN_FORMATS: Readonly<Record<string, string>> = { mp3: 'mp3_44100_128', opus: 'opus_48000_128', pcm: 'pcm_24000' }

export const elevenlabsSpeech: OperationCodec<'speech'> = async (request, upstream) => {
  refuseEvents(request)
  const format = ELEVEN_FORMATS[formatOf(request)]
  if (format === undefined) throw unsupportedFormat(request)
  leftOut(upstream.codec, { instructions: request.instructions })
  const body: JsonObject = { ...(request.extra as JsonObject), text: request.input, model_id: upstream.model }
  if (request.speed !== undefined) body.voice_settings = { speed: request.speed }
  const voice = encodeURIComponent(request.voice)
  return streamed(request, upstream, { path: `/v1/text-to-speech/${voice}/stream?output_format=${format}`, body })
}

/** Vendor's encoding and container. */
const DEEPGRAM_FORMATS: Readonly<Record<string, string>> = {
  mp3: 'encoding=mp3',
  opus: 'encoding=opus&container=ogg',
  aac: 'encoding=aac',
  flac: 'encoding=flac',
  wav: 'encoding=linear16&container=wav',
  pcm: 'encoding=linear16&container=none&sample_rate=24000',
}

/** The voice is part of the model's name; `voice` completes a name without one. */
export const deepgramSpeech: OperationCodec<'speech'> = async (request, upstream) => {
  refuseEvents(request)
  leftOut(upstream.codec, { instructions: request.instructions, speed: request.speed })
  const model = /-(?:[a-z]+)-[a-z]{2}$/.test(upstream.model) ? upstream.model : `${upstream.model}-${request.voice}-en`
  const path = `/speak?model=${encodeURIComponent(model)}&${DEEPGRAM_FORMATS[formatOf(request)]}`
  return streamed(request, upstream, { path, body: { text: request.input } })
}

function refuseEvents({ sse }: Asked): void {
  if (sse) throw GatewayError.unsupported('stream_format', 'This model’s provider streams audio, not events.')
}

function unsupportedFormat({ format }: Asked): GatewayError {
  return GatewayError.unsupported('response_format', `This model’s provider does not make \`${format}\`.`)
}
