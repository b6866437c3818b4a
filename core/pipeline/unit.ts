// A request's writes. Without a database a unit holds no statements, but what waits for the commit still runs.
import { GatewayError } from '../errors/gateway-error.ts'
import type { Statement, Unit } from '../types/ports.ts'

export interface OpenUnit extends Unit {
  readonly statements: readonly Statement[]
  /** Runs what waited for the commit; failures go to `failed`. */
  committed(failed: (error: unknown) => void): void
}

export function openUnit(hasDatabase: boolean): OpenUnit {
  const statements: Statement[] = []
  const waiting: (() => void)[] = []
  return {
    statements,
    add(...added) {
      if (!hasDatabase) {
        throw new GatewayError('A plugin wants to write, and this gateway has no database.', {
          status: 503,
          type: 'api_error',
          code: 'storage_unavailable',
        })
      }
      statements.push(...added)
    },
    afterCommit: (fn) => void waiting.push(fn),
    committed(failed) {
      for (const fn of waiting.splice(0)) {
        try {
          fn()
        } catch (error) {
          failed(error)
        }
      }
    },
  }
}
