// Reads the rules file at intervals, because it may change at any time. It is read again when its time or size has changed. While it is
// invalid, the last valid rules stay.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { z } from 'zod'
import type { Logger } from '../../core/types/ports/ports.ts'
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
  /** Time and size of the last read, valid or not; null: there was no file. */
  let seen: string | null | undefined

  async function look(): Promise<void> {
    const state = await stateOf(path)
    if (state === seen) return
    const before = seen
    seen = state
    if (state === null) {
      current = NOTHING
      if (before === undefined) log.warn('payload_rules.missing', { path, hint: 'No rules apply until the file exists.' })
      else log.info('payload_rules.removed', { path })
      return
    }
    try {
      const text = await readFile(path, 'utf8')
      const { rules, ignored } = readRules(JSON.parse(text)) satisfies RuleSet
      const version = createHash('sha256').update(text).digest('hex')
      current = rules.length === 0 ? NOTHING : { rules, version }
      log.info('payload_rules.loaded', { path, rules: rules.length })
      if (ignored.length > 0)
        log.warn('payload_rules.ignored', { path, ignored, hint: 'Payload rules cannot set `model` or `stream`.' })
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error)
      log.error('payload_rules.invalid', { path, reason, hint: 'The previous rules stay active.' })
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

/** Returns null when there is no file, or no permission to read it. */
async function stateOf(path: string): Promise<string | null> {
  try {
    const { mtimeMs, size } = await stat(path)
    return `${mtimeMs} ${size}`
  } catch {
    return null
  }
}
