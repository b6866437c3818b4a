// The rules as a file that may change at any time: looked at again and again, read when its time or size is another one, and
// the last good rules stay while it cannot be understood.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { z } from 'zod'
import type { Logger } from '../../core/types/ports.ts'
import { type Rule, type RuleSet, readRules } from './rule.ts'

export interface RulesFile {
  readonly rules: readonly Rule[]
  /** Hash of the rules; null without rules. */
  readonly version: string | null
  /** Never rejects. */
  look(): Promise<void>
}

const NOTHING = { rules: [], version: null }

export function rulesFile(path: string, log: Logger): RulesFile {
  let current: { readonly rules: readonly Rule[]; readonly version: string | null } = NOTHING
  /** Time and size of what was read last, good or bad; null: there was no file. */
  let seen: string | null | undefined

  async function look(): Promise<void> {
    const state = await stateOf(path)
    if (state === seen) return
    const before = seen
    seen = state
    if (state === null) {
      current = NOTHING
      if (before === undefined) log.warn('The file of payload rules is not there: no rules until it is.', { path })
      else log.info('The file of payload rules is gone, and its rules with it.', { path })
      return
    }
    try {
      const text = await readFile(path, 'utf8')
      const { rules, ignored } = readRules(JSON.parse(text)) satisfies RuleSet
      const version = createHash('sha256').update(text).digest('hex')
      current = rules.length === 0 ? NOTHING : { rules, version }
      log.info('Payload rules were read.', { path, rules: rules.length })
      if (ignored.length > 0) log.warn('Payload rules cannot set `model` and `stream`: left out.', { path, ignored })
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
      log.error('The file of payload rules cannot be used: the rules stay as they were.', { path, reason })
    }
  }

  return {
    get rules() {
      return current.rules
    },
    get version() {
      return current.version
    },
    look,
  }
}

/** null: there is no such file, or none that may be looked at. */
async function stateOf(path: string): Promise<string | null> {
  try {
    const { mtimeMs, size } = await stat(path)
    return `${mtimeMs} ${size}`
  } catch {
    return null
  }
}
