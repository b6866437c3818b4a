// Model modes and capabilities, in the terms of the public rate cards.
export const MODES = [
  'chat',
  'completion',
  'embedding',
  'image_generation',
  'audio_transcription',
  'audio_speech',
  'moderation',
  'rerank',
  'ocr',
  'realtime',
] as const

export const CAPABILITIES = [
  'function_calling',
  'parallel_function_calling',
  'tool_choice',
  'vision',
  'pdf_input',
  'audio_input',
  'audio_output',
  'prompt_caching',
  'reasoning',
  'response_schema',
  'system_messages',
  'web_search',
] as const
