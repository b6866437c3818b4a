// Custom (free text) tools: a canonical call with `kind: 'custom'` has the plain input text as its `args`. A target without such tools
// declares a function with one `input` string, and its decoder unwraps the text. Arguments that are still wrapped as `{"input":
// "<text>"}` are unwrapped here, so that no caller sees the wrapper.

export function inputText(args: string): string {
  if (!mayBeWrapped(args)) return args
  // A stream that was cut inside the input leaves the wrapper open.
  return unwrapped(args) ?? unwrapped(`${args}"}`) ?? args
}

/** The first character decides. Any other input can be sent at once. */
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
