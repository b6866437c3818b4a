// Describes each x-gateway-warnings slug for docs/dialects.md, by its form or by this list.
const SAID = {
  aspect_ratio_approximated: 'The target takes aspect ratios. The size became the nearest one.',
  partial_images_unsupported: 'The target sends no partial images. The stream has the finished images only.',
  response_format_field: 'The target answered with the other form of image: data in place of a URL, or a URL in place of data.',
  response_format_wav: 'The target makes no MP3, and the caller chose no format: the audio is WAV.',
  unsupported_image_fields: 'The model refuses `style` and `response_format`, so they were left out.',
  voices_not_listed: 'A provider did not list its voices.',
  credential_policy: 'The account that answered uses the login of a person. Its vendor may not allow this use.',
  estimated_tokens: 'The target reported no tokens or cannot count them. The count is an estimate of the gateway.',
  fallback_ignored:
    'An entry of `Helicone-Fallbacks` was ignored: no provider has its address, it names no model, the key may not use it, or the requested model is virtual.',
  image_output: 'Images of the answer are in `message.images`, which is not part of the chat dialect.',
  json_object_as_instruction: 'The request for a JSON object became an instruction to the model.',
  max_tokens_raised: 'The token limit was below the minimum of the target and was raised to it.',
  output_schema_as_instruction: 'The output schema became an instruction to the model.',
  pause_turn: 'The model paused its turn. The caller’s dialect reports this as `stop`.',
  dropped_prefill:
    'The model cannot continue an assistant turn that the caller began. The gateway added a user turn that asks it to continue.',
  seed_folded: 'The seed was mapped into the range of the target.',
  response_not_stored: 'The turn is larger than `GATEWAY_RESPONSES_STATE_MAX_BYTES`, so it was answered and not stored.',
  stop_truncated: 'The target accepts fewer stop sequences. Only the first ones were sent.',
  tool_args_wrapped: 'Arguments of a tool call in the history are not a JSON object. The gateway wrapped them in one.',
  dropped_tool: 'A tool that only another vendor can run was left out.',
  dropped_deferred_tools:
    'Deferred tools that the conversation has not loaded yet were not offered. A tool reference in a result loads them.',
}

const RULES = [
  [/^dropped_(.+)$|^(.+)_dropped$/, (name) => `Left out, because the target does not support it: ${name}.`],
  [/^hashed_(.+)$/, (name) => `Longer than the target accepts, so sent as a stable hash: ${name}.`],
  [/^(.+)_clamped$/, (name) => `Changed to the nearest value in the target’s range: ${name}.`],
  [
    /^missing_(.+)$|^(.+)_(?:missing|added)$/,
    (name) => `Missing in the history, so the gateway added one that says so: ${name}.`,
  ],
  [/^stripped_(.+)$/, () => 'The upstream refused this field by name. The gateway retried without it.'],
]

export function warningText(slug) {
  if (SAID[slug] !== undefined) return SAID[slug]
  for (const [form, say] of RULES) {
    const match = form.exec(slug)
    if (match !== null) return say((match[1] ?? match[2] ?? '').replaceAll('_', ' '))
  }
  throw new Error(`scripts/warning-text.mjs says nothing about ${slug}.`)
}
