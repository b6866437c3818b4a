// Speech and transcription models over the gateway's own routes.
import { APICallError, type SpeechModelV3, type TranscriptionModelV3 } from '@ai-sdk/provider'
import { systemClock } from '../../core/timing/clock.ts'
import type { Connection, TrackedCall } from './connection.ts'
import { factsOf } from './facts.ts'

const PROVIDER = 'hookgate'

export function speechModel(connection: Connection, modelId: string): SpeechModelV3 {
  return {
    specificationVersion: 'v3',
    provider: `${PROVIDER}.speech`,
    modelId,
    async doGenerate({ text, voice = 'alloy', outputFormat, instructions, speed, language, providerOptions, ...call }) {
      const body = {
        model: modelId,
        input: text,
        voice,
        response_format: outputFormat,
        instructions,
        speed,
        ...providerOptions?.hookgate,
      }
      const sent = JSON.stringify(body)
      const tracked = connection.track()
      const response = await answered(connection, tracked, '/audio/speech', { ...call, body: sent, values: body })
      const audio = new Uint8Array(await response.arrayBuffer())
      return {
        audio,
        warnings:
          language === undefined
            ? []
            : [{ type: 'unsupported', feature: 'language', details: 'The voice or the text decides the language.' }],
        request: { body: sent },
        response: {
          timestamp: new Date(response.headers.get('date') ?? systemClock.now()),
          modelId,
          headers: Object.fromEntries(response.headers),
        },
        providerMetadata: { hookgate: await factsOf(tracked) },
      }
    },
  }
}

interface Transcript {
  readonly text: string
  readonly language?: string | null
  readonly duration?: number | null
  readonly segments?: readonly { readonly text: string; readonly start: number; readonly end: number }[] | null
}

export function transcriptionModel(connection: Connection, modelId: string): TranscriptionModelV3 {
  return {
    specificationVersion: 'v3',
    provider: `${PROVIDER}.transcription`,
    modelId,
    async doGenerate({ audio, mediaType, providerOptions, ...call }) {
      const form = new FormData()
      form.append('model', modelId)
      form.append('file', new Blob([bytesOf(audio)], { type: mediaType }), `audio.${endingOf(mediaType)}`)
      for (const [name, value] of Object.entries(providerOptions?.hookgate ?? {}))
        for (const each of Array.isArray(value) ? value : [value])
          form.append(Array.isArray(value) ? `${name}[]` : name, String(each))
      const tracked = connection.track()
      const values = { model: modelId, ...providerOptions?.hookgate }
      const response = await answered(connection, tracked, '/audio/transcriptions', { ...call, body: form, values })
      const body = (await response.json()) as Transcript
      return {
        text: body.text,
        segments: (body.segments ?? []).map(({ text, start, end }) => ({ text, startSecond: start, endSecond: end })),
        language: body.language ?? undefined,
        durationInSeconds: body.duration ?? undefined,
        warnings: [],
        response: {
          timestamp: new Date(response.headers.get('date') ?? systemClock.now()),
          modelId,
          headers: Object.fromEntries(response.headers),
          body,
        },
        providerMetadata: { hookgate: await factsOf(tracked) },
      }
    },
  }
}

interface Sent {
  readonly body: string | FormData
  /** The request without its file, for the error. */
  readonly values: unknown
  readonly headers?: Record<string, string | undefined>
  readonly abortSignal?: AbortSignal
}

/** @throws APICallError with the message, and the gateway's error in `data` */
async function answered({ base, headers }: Connection, { send }: TrackedCall, path: string, sent: Sent): Promise<Response> {
  const { body, values, abortSignal } = sent
  const all = Object.entries({
    ...headers,
    ...sent.headers,
    ...(typeof body === 'string' && { 'content-type': 'application/json' }),
  })
  const url = base + path
  const response = await send(url, {
    method: 'POST',
    headers: all.filter((entry): entry is [string, string] => entry[1] !== undefined),
    body,
    signal: abortSignal ?? null,
  })
  if (response.ok) return response
  const responseBody = await response.text()
  const data = jsonOf(responseBody)
  throw new APICallError({
    message: data?.error?.message ?? `The gateway answered ${response.status}.`,
    url,
    requestBodyValues: values,
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody,
    data,
  })
}

function jsonOf(text: string): { readonly error?: { readonly message?: string } } | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function bytesOf(audio: Uint8Array | string): Uint8Array<ArrayBuffer> {
  if (typeof audio !== 'string') return new Uint8Array(audio)
  return Uint8Array.from(atob(audio), (character) => character.charCodeAt(0))
}

const ENDINGS: Readonly<Record<string, string>> = { mpeg: 'mp3', 'x-wav': 'wav', 'x-m4a': 'm4a', mp4: 'm4a' }

function endingOf(mediaType: string): string {
  const kind = /^[^/]*\/([\w-]+)/.exec(mediaType)?.[1] ?? 'wav'
  return ENDINGS[kind] ?? kind
}
