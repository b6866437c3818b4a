// Since Node 24.19 a wrapped C++ object that is collected asks for the environment of the running context, which a garbage
// collection has not: the process aborts (`RemoveEnvironmentCleanupHook`). Statements and databases of better-sqlite3 12 are such
// objects where it was compiled on that Node. So there nothing of them is let go of: some hundred statements and, in a process
// that opens many, the shells of closed databases. The one state of a module, since it has to outlive every gateway.
const FIRST_MAJOR = 24

const kept: object[] | null = Number.parseInt(process.versions.node, 10) >= FIRST_MAJOR ? [] : null

/** For everything that better-sqlite3 makes. */
export function pinForProcess<T extends object>(wrapped: T): T {
  kept?.push(wrapped)
  return wrapped
}
