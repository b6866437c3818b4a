// Maximum characters of a user's or a cache's identifier, for vendors that document it.

export const OPENAI_IDS = { user: 64, safety_identifier: 64, prompt_cache_key: 64 } as const

export const LONGER_IDS = { user: 128, user_id: 128, safety_identifier: 128, prompt_cache_key: 128 } as const

export const ANTHROPIC_IDS = { 'metadata.user_id': 256 } as const
