// The caller's side of transcriptions and translations: OpenAI's form and its answer formats.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { EncodedAnswer, FormBody, TextsOf } from '../../../core/types/operations/operation.ts'
import type { TranscriptionAnswer, TranscriptionRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen } from '../../../core/types/request/canonical.ts'
import { modelOf } from '../embeddings/caller.ts'
import { JSON_TYPE } from '../shared/answers.ts'
import { formBoolean, formFile, formList, formNumber, formText, otherFields } from '../shared/form-fields.ts'

export const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const
const KNOWN = new Set([
  ...['model', 'file', 'language', 'prompt', 'response_format', 'temperature', 'timestamp_granularities', 'include', 'stream'],
])
const TEXT_TYPE = 'text/plain; charset=utf-8'

/** @throws GatewayError 400 with `param`. */
export function decodeAudio(task: TranscriptionRequest['task']): (form: FormBody) => TranscriptionRequest {
  return (form) => {
    const file = formFile(form, 'file')
    if (file === undefined) throw GatewayError.invalid('file', '`file` is required: a file in the form.')
    if (file.size === 0) throw GatewayError.invalid('file', '`file` is empty.')
    const format = formText(form, 'response_format') ?? 'json'
    if (!(FORMATS as readonly string[]).includes(format))
      throw GatewayError.invalid(
        'response_format',
        `\`response_format\` must be one of ${FORMATS.map((one) => `\`${one}\``).join(', ')}.`,
      )
    const language = formText(form, 'language')
    const prompt = formText(form, 'prompt')
    const temperature = formNumber(form, 'temperature')
    return {
      task,
      model: modelOf({ model: formText(form, 'model') }),
      file,
      format,
      granularities: formList(form, 'timestamp_granularities'),
      include: formList(form, 'include'),
      stream: formBoolean(form, 'stream'),
      ...(language === undefined ? {} : { language }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(temperature === undefined ? {} : { temperature }),
      extra: otherFields(form, KNOWN),
    }
  }
}

/** Encodes an answer that a vendor gave in its own format, or that a hook changed. */
export function encodeTranscription(
  answer: Frozen<TranscriptionAnswer>,
  { format, task, granularities, stream }: Frozen<TranscriptionRequest>,
): EncodedAnswer {
  const { text, language, duration, segments = [], words, usage, extra } = answer
  if (stream) {
    const events = [
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text, ...(usage.raw === null ? {} : { usage: usage.raw }) },
    ]
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    return { contentType: 'text/event-stream; charset=utf-8', body }
  }
  if (format === 'text') return { contentType: TEXT_TYPE, body: `${text}\n` }
  if (format === 'srt') return { contentType: TEXT_TYPE, body: subtitles(answer, ',') }
  if (format === 'vtt') return { contentType: TEXT_TYPE, body: `WEBVTT\n\n${subtitles(answer, '.')}` }
  const verbose =
    format === 'json'
      ? {}
      : {
          task,
          ...(language === undefined ? {} : { language }),
          ...(duration === undefined ? {} : { duration }),
          segments: segments.map(({ id, start, end, text: said, extra: more }) => ({ id, start, end, text: said, ...more })),
          ...(words === undefined || !granularities.includes('word') ? {} : { words }),
        }
  const body = { ...extra, text, ...verbose, ...(usage.raw === null ? {} : { usage: usage.raw }) }
  return { contentType: JSON_TYPE, body: JSON.stringify(body) }
}

/** Without segments the whole text is one. */
function subtitles({ text, segments, duration }: Frozen<TranscriptionAnswer>, decimal: ',' | '.'): string {
  const listed = segments?.length ? segments : [{ start: 0, end: duration ?? 0, text }]
  return listed
    .map(({ start, end, text: said }, at) => {
      const number = decimal === ',' ? `${at + 1}\n` : ''
      return `${number}${clock(start, decimal)} --> ${clock(end, decimal)}\n${said.trim()}\n`
    })
    .join('\n')
}

function clock(seconds: number, decimal: string): string {
  const ms = Math.max(0, Math.round(seconds * 1000))
  const part = (value: number, width = 2) => String(Math.floor(value)).padStart(width, '0')
  return `${part(ms / 3_600_000)}:${part((ms / 60_000) % 60)}:${part((ms / 1000) % 60)}${decimal}${part(ms % 1000, 3)}`
}

export const promptOf: TextsOf<TranscriptionRequest> = {
  read: ({ prompt }) => (prompt === undefined ? [] : [prompt]),
  replace: (request, [prompt]) => ({ ...(request as TranscriptionRequest), ...(prompt === undefined ? {} : { prompt }) }),
}

/** The text, then the segments. Words cannot be redacted one by one, so a changed text drops them. */
export const transcript: TextsOf<TranscriptionAnswer> = {
  read: ({ text, segments = [] }) => [text, ...segments.map((segment) => segment.text)],
  replace({ words: _words, ...answer }, [text = '', ...texts]) {
    const segments = answer.segments?.map((segment, at) => ({ ...segment, text: texts[at] as string }))
    return { ...(answer as TranscriptionAnswer), text, ...(segments === undefined ? {} : { segments: segments as never }) }
  },
}
