// How long an identifier of a user or a cache may be at vendors that say so, in characters.

export const OPENAI_IDS = { user: 64, safety_identifier: 64, prompt_cache_key: 64 } as const

export const LONGER_IDS = { user: 128, user_id: 128, safety_identifier: 128, prompt_cache_key: 128 } as const

export const ANTHROPIC_IDS = { 'metadata.user_id': 256 } as const
