// Custom (free text) tools in canonical form. A call's `args` is always JSON text, so the text input travels as
// `{"input": "<text>"}`: exactly what a target sends or answers that has the tool only as a function.

export function wrapInput(input: string): string {
  return `{"input":${JSON.stringify(input)}}`
}

/** The text input of a call; arguments that are not wrapped are the input themselves. */
export function unwrapInput(args: string): string {
  if (!args.trimStart().startsWith('{')) return args
  // A stream that was cut inside the input leaves the wrapping open.
  return inputOf(args) ?? inputOf(`${args}"}`) ?? args
}

function inputOf(text: string): string | null {
  try {
    const { input } = JSON.parse(text) as { input?: unknown }
    return typeof input === 'string' ? input : null
  } catch {
    return null
  }
}
