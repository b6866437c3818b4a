// Meaning of each x-gateway-warnings slug, for docs/dialects.md: by its form, or listed here.
const SAID = {
  credential_policy: 'The account that answered is one that people sign in with; its vendor may not want that.',
  estimated_tokens: 'The target reported no tokens, or cannot count them; the count is a local estimate.',
  fallback_ignored:
    'An entry of `Helicone-Fallbacks` was left out: no provider here is at its address, it names no model, the key may not use it, or the asked model is a virtual one.',
  image_output: 'Images of the answer are in `message.images`, a convention beyond the chat dialect.',
  json_object_as_instruction: 'The wish for a JSON object became an instruction to the model.',
  max_tokens_raised: 'The token limit was below the least the target takes.',
  output_schema_as_instruction: 'The output schema became an instruction to the model.',
  pause_turn: 'The model paused its turn; the caller’s dialect says `stop`.',
  dropped_prefill: 'The begun assistant turn is not continued by this model; it was asked to go on instead.',
  seed_folded: 'The seed was mapped into the range the target takes.',
  stop_truncated: 'The target takes fewer stop sequences; the first ones were sent.',
  tool_args_wrapped: 'Arguments of a call in the history are not a JSON object; they were wrapped in one.',
  dropped_tool: 'A tool that only another vendor runs was left out.',
  dropped_deferred_tools:
    'Deferred tools that the conversation has not loaded yet were not offered; a tool reference in a result loads them.',
}

const RULES = [
  [/^dropped_(.+)$|^(.+)_dropped$/, (name) => `Left out, as the target has nothing like it: ${name}.`],
  [/^hashed_(.+)$/, (name) => `Longer than the target takes, and sent as a stable hash: ${name}.`],
  [/^(.+)_clamped$/, (name) => `Brought into the target’s range: ${name}.`],
  [/^missing_(.+)$|^(.+)_(?:missing|added)$/, (name) => `Missing in the history and made up: ${name}.`],
  [/^stripped_(.+)$/, () => 'The upstream refused this field by name; it was asked again without it.'],
]

export function warningText(slug) {
  if (SAID[slug] !== undefined) return SAID[slug]
  for (const [form, say] of RULES) {
    const match = form.exec(slug)
    if (match !== null) return say((match[1] ?? match[2] ?? '').replaceAll('_', ' '))
  }
  throw new Error(`scripts/warning-text.mjs says nothing about ${slug}.`)
}
