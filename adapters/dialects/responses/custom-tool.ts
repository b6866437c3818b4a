// Custom (free text) tools in canonical form. A call's `args` is always JSON text, so the text input travels as
// `{"input": "<text>"}`: exactly what a target sends or answers that has the tool only as a function.

export function wrapInput(input: string): string {
  return `{"input":${JSON.stringify(input)}}`
}

/** The text input of a call; arguments that are not wrapped are the input themselves. */
export function unwrapInput(args: string): string {
  if (!args.trimStart().startsWith('{')) return args
  try {
    const parsed: unknown = JSON.parse(args)
    const input = (parsed as { input?: unknown }).input
    return typeof input === 'string' ? input : args
  } catch {
    return args
  }
}
