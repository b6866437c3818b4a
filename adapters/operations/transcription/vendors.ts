// Transcriptions at OpenAI-like vendors, ElevenLabs and Deepgram. They are recorded and not billed, so no unit is counted.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import type {
  FormBody,
  OperationCodec,
  OperationReply,
  OperationUpstream,
  UpstreamAnswer,
} from '../../../core/types/operations/operation.ts'
import type { TranscriptionAnswer, TranscriptionRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { JSON_TYPE, missing, parsed } from '../shared/answers.ts'
import { passedEvents, usageWatch } from '../shared/events.ts'
import { fieldsOf } from '../shared/form-fields.ts'
import { begun, wholeOf } from '../shared/frames.ts'
import { leftOut } from '../shared/left-out.ts'
import { reportedUsage, usageOf } from '../shared/usage.ts'

type Asked = Frozen<TranscriptionRequest>
type Answer = TranscriptionAnswer

const TEXTS = new Set(['text', 'srt', 'vtt'])

export const openaiTranscription: OperationCodec<'transcription'> = async (request, upstream) => {
  const path = request.task === 'translate' ? '/audio/translations' : '/audio/transcriptions'
  const streams = request.stream && !upstream.whole
  const body = formOf({ ...request, stream: streams }, upstream.model)
  if (streams) return streamed(request, upstream, path, body)
  const plain = TEXTS.has(request.format)
  const answer = await upstream.send({ path, body, accept: plain ? 'text/plain' : 'application/json' })
  if (plain) {
    const usage = usageOf({})
    const text = decodeUtf8(answer.bytes)
    const wire = { contentType: 'text/plain; charset=utf-8', body: answer.bytes }
    return { usage, wire, answer: () => ({ model: upstream.model, usage, text, extra: {} }) }
  }
  return whole(request, upstream, answer)
}

function whole(request: Asked, upstream: OperationUpstream, answer: UpstreamAnswer): OperationReply<Answer> {
  const json = parsed(answer)
  if (typeof json.text !== 'string') throw missing('text')
  const usage = { ...(reportedUsage(json.usage) ?? usageOf({})), raw: json.usage ?? null }
  return {
    usage,
    ...(request.stream ? {} : { wire: { contentType: JSON_TYPE, body: answer.bytes } }),
    answer: () => answerOf(json, upstream.model, usage),
  }
}

async function streamed(
  request: Asked,
  upstream: OperationUpstream,
  path: string,
  body: FormBody,
): Promise<OperationReply<Answer>> {
  const answer = await upstream.stream({ path, body, accept: 'text/event-stream' })
  // OpenAI ignores `stream` for whisper-1, and so do other vendors.
  if (/\bjson\b/i.test(answer.headers.get('content-type') ?? '')) return whole(request, upstream, await wholeOf(answer))
  const begins = await begun(answer)
  const watch = usageWatch()
  const usage = usageOf({})
  return {
    usage,
    answer: () => ({ model: upstream.model, usage, text: '', extra: {} }),
    stream: {
      contentType: 'text/event-stream; charset=utf-8',
      source: passedEvents(begins, watch.seen),
      usage: () => reportedUsage(watch.last()),
    },
  }
}

function formOf(
  { file, language, prompt, format, temperature, granularities, include, stream, extra }: Asked,
  model: string,
): FormBody {
  const fields: [string, string][] = [['model', model]]
  const add = (name: string, value: string | number | undefined) => {
    if (value !== undefined) fields.push([name, String(value)])
  }
  add('language', language)
  add('prompt', prompt)
  add('response_format', format)
  add('temperature', temperature)
  for (const one of granularities) add('timestamp_granularities[]', one)
  for (const one of include) add('include[]', one)
  if (stream) add('stream', 'true')
  return { fields: [...fields, ...fieldsOf(extra)], files: [file] }
}

function answerOf(json: JsonObject, model: string, usage: Answer['usage']): Answer {
  const { text, language, duration, segments, words, usage: _usage, task: _task, ...extra } = json
  return {
    model,
    usage,
    text: loose(text),
    ...(typeof language === 'string' ? { language } : {}),
    ...(typeof duration === 'number' ? { duration } : {}),
    ...(Array.isArray(segments) ? { segments: segments.filter(isObject).map(segmentOf) } : {}),
    ...(Array.isArray(words) ? { words: wordsOf(words, 'word') } : {}),
    extra,
  }
}

function segmentOf({ id, start, end, text, ...extra }: JsonObject, at: number): NonNullable<Answer['segments']>[number] {
  return { id: typeof id === 'number' ? id : at, start: seconds(start), end: seconds(end), text: loose(text), extra }
}

function seconds(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}

function wordsOf(list: readonly Json[], name: string): NonNullable<Answer['words']> {
  return list
    .filter(isObject)
    .filter(({ type }) => type === undefined || type === 'word')
    .map((word) => ({ word: loose(word[name]), start: seconds(word.start), end: seconds(word.end) }))
}

export const elevenlabsTranscription: OperationCodec<'transcription'> = async (request, upstream) => {
  refuseTranslation(request)
  const { file, language, prompt, temperature, include, extra } = request
  leftOut(upstream.codec, { prompt, temperature, include })
  const fields: [string, string][] = [
    ['model_id', upstream.model],
    ...(language === undefined ? [] : [['language_code', language] as [string, string]]),
    ...fieldsOf(extra),
  ]
  const json = parsed(await upstream.send({ path: '/v1/speech-to-text', body: { fields, files: [{ ...file, field: 'file' }] } }))
  if (typeof json.text !== 'string') throw missing('text')
  const words = Array.isArray(json.words) ? wordsOf(json.words, 'text') : undefined
  return answered(upstream, json.text, loose(json.language_code), words?.at(-1)?.end, words)
}

export const deepgramTranscription: OperationCodec<'transcription'> = async (request, upstream) => {
  refuseTranslation(request)
  const { prompt, temperature, include } = request
  leftOut(upstream.codec, { prompt, temperature, include })
  const query = new URLSearchParams({ model: upstream.model, smart_format: 'true' })
  if (request.language === undefined) query.set('detect_language', 'true')
  else query.set('language', request.language)
  const { chunks, type } = request.file
  const json = parsed(
    await upstream.send({ path: `/listen?${query}`, body: chunks, contentType: type === '' ? 'application/octet-stream' : type }),
  )
  const channels = isObject(json.results) && Array.isArray(json.results.channels) ? json.results.channels : []
  const channel = isObject(channels[0]) ? channels[0] : {}
  const best = Array.isArray(channel.alternatives) ? channel.alternatives[0] : undefined
  if (!isObject(best) || typeof best.transcript !== 'string') throw missing('results.channels.0.alternatives.0.transcript')
  const words = Array.isArray(best.words) ? wordsOf(best.words, 'punctuated_word') : undefined
  const duration = isObject(json.metadata) ? json.metadata.duration : undefined
  return answered(upstream, best.transcript, loose(channel.detected_language), seconds(duration), words)
}

/** A segment ends with a sentence. */
const SENTENCE_END = /[.!?…]$/

function answered(
  { model }: OperationUpstream,
  text: string,
  language: string,
  duration: number | undefined,
  words: Answer['words'],
): OperationReply<Answer> {
  const usage = usageOf({})
  const segments: NonNullable<Answer['segments']> = []
  let from = 0
  for (const [at, { word, end }] of (words ?? []).entries()) {
    if (!SENTENCE_END.test(word) && at < (words?.length ?? 0) - 1) continue
    const said = (words ?? []).slice(from, at + 1)
    segments.push({
      id: segments.length,
      start: said[0]?.start ?? 0,
      end,
      text: said.map((one) => one.word).join(' '),
      extra: {},
    })
    from = at + 1
  }
  const answer: Answer = {
    model,
    usage,
    text,
    ...(language === '' ? {} : { language }),
    ...(duration === undefined ? {} : { duration }),
    segments,
    ...(words === undefined ? {} : { words }),
    extra: {},
  }
  return { usage, answer: () => answer }
}

function refuseTranslation({ task }: Asked): void {
  if (task === 'translate') throw GatewayError.unsupported('model', 'This model’s provider transcribes and does not translate.')
}
