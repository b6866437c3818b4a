// Derives a model's mode (chat, embedding, image …) from its id. Vendors put it into the id, and no data package has it for all models.
import type { ModelMode } from './service.ts'

const MODES: readonly [RegExp, ModelMode][] = [
  [/embed|(?:^|\/)bge-(?!rerank)|(?:^|\/)voyage/, 'embedding'],
  [/rerank/, 'rerank'],
  [/moderation|llama-guard|gpt-oss-safeguard/, 'moderation'],
  [/whisper|transcribe/, 'audio_transcription'],
  [/(?:^|[-/])tts(?:-|$)/, 'audio_speech'],
  [/realtime|(?:^|-)live(?:-|$)|native-audio|-sonic|grok-voice/, 'realtime'],
  [/(?:^|\/)ocr|-ocr/, 'ocr'],
  [/gpt-image|dall-e|imagen|-image(?:-|$)|(?:^|\/)flux/, 'image_generation'],
  [/(?:^|\/)(?:babbage|davinci|gpt-3\.5-turbo-instruct)/, 'completion'],
]

export function modeOf(model: string): ModelMode {
  const id = model.toLowerCase()
  return MODES.find(([pattern]) => pattern.test(id))?.[1] ?? 'chat'
}
