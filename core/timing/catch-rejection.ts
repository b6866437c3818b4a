// Plugin authors may pass an `async` function where a synchronous one is expected. This reports its rejection instead of crashing the
// process.

export function catchRejection(returned: unknown, failed: (error: unknown) => void): void {
  if (typeof returned !== 'object' || returned === null) return
  const { then } = returned as { then?: unknown }
  if (typeof then === 'function') (returned as PromiseLike<unknown>).then(undefined, failed)
}
