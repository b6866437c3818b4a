// Voices of vendors that have no list of them at an address.

export const OPENAI_VOICES = [
  ...['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable', 'marin', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
] as const

/** The prebuilt voices of Google's speech models, with Google's word for each. Every one speaks all languages of the model. */
export const GOOGLE_VOICES: Readonly<Record<string, string>> = {
  Achernar: 'Soft',
  Achird: 'Friendly',
  Algenib: 'Gravelly',
  Algieba: 'Smooth',
  Alnilam: 'Firm',
  Aoede: 'Breezy',
  Autonoe: 'Bright',
  Callirrhoe: 'Easy-going',
  Charon: 'Informative',
  Despina: 'Smooth',
  Enceladus: 'Breathy',
  Erinome: 'Clear',
  Fenrir: 'Excitable',
  Gacrux: 'Mature',
  Iapetus: 'Clear',
  Kore: 'Firm',
  Laomedeia: 'Upbeat',
  Leda: 'Youthful',
  Orus: 'Firm',
  Puck: 'Upbeat',
  Pulcherrima: 'Forward',
  Rasalgethi: 'Informative',
  Sadachbia: 'Lively',
  Sadaltager: 'Knowledgeable',
  Schedar: 'Even',
  Sulafat: 'Warm',
  Umbriel: 'Easy-going',
  Vindemiatrix: 'Gentle',
  Zephyr: 'Bright',
  Zubenelgenubi: 'Casual',
}
