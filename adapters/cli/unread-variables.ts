// Finds GATEWAY_* variables that are set and unknown. Most are typing errors, and a wrong name can silently leave access open.
import type { Env } from '../../core/config/env.ts'
import { closest } from './closest.ts'

export interface UnreadVariable {
  readonly name: string
  /** A declared name that differs by one or two letters. */
  readonly suggested: string | null
}

/** @param env read with the plugins of the configuration, so that their variables are known. */
export function unreadVariables(environment: NodeJS.ProcessEnv, env: Env): UnreadVariable[] {
  const known = new Set(env.all().map(({ variable }) => `GATEWAY_${variable.name}`))
  return Object.keys(environment)
    .filter((name) => name.startsWith('GATEWAY_') && !known.has(name))
    .sort()
    .map((name) => ({ name, suggested: closest(name, known) }))
}
