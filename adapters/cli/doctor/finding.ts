// The type of one line of `hookgate doctor`.
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  /** The command or change that fixes it. */
  readonly fix?: string
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
export const warn = (check: string, message: string, fix: string): Finding => ({ check, status: 'warn', message, fix })
export const fail = (check: string, message: string, fix: string): Finding => ({ check, status: 'fail', message, fix })

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
