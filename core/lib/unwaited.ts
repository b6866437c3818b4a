// Where a function is meant to be synchronous an author may write `async`: nobody waits for it, and what it rejects with is told
// to somebody instead of ending the process.

export function unwaited(returned: unknown, failed: (error: unknown) => void): void {
  if (typeof returned !== 'object' || returned === null) return
  const { then } = returned as { then?: unknown }
  if (typeof then === 'function') (returned as PromiseLike<unknown>).then(undefined, failed)
}
