// Custom (free text) tools: a canonical call with `kind: 'custom'` has the plain input text as its `args`. A target without
// such tools declares a function of one `input` string; its decoder takes the text out again. Arguments that arrive here
// still wrapped as `{"input": "<text>"}` are unwrapped, so that no caller sees the makeshift.

export function inputText(args: string): string {
  if (!mayBeWrapped(args)) return args
  // A stream that was cut inside the input leaves the wrapping open.
  return unwrapped(args) ?? unwrapped(`${args}"}`) ?? args
}

/** Decided by the first character; any other input can be sent on as it comes. */
export function mayBeWrapped(args: string): boolean {
  return args.startsWith('{')
}

function unwrapped(text: string): string | null {
  try {
    const parsed = JSON.parse(text) as { input?: unknown }
    return typeof parsed.input === 'string' && Object.keys(parsed).length === 1 ? parsed.input : null
  } catch {
    return null
  }
}
