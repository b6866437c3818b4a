// The gateway's own facts by provider id.
import { globMatch } from '../../../core/text/glob.ts'
import { ANTHROPIC } from './anthropic.ts'
import type { FactRow, ProviderFacts } from './fact-row.ts'
import { GOOGLE } from './google.ts'
import { OPENAI } from './openai.ts'
import { DEEPSEEK, ECHO, GROQ, MISTRAL, PERPLEXITY, XAI } from './others.ts'

const FACTS: ReadonlyMap<string, ProviderFacts> = new Map(
  Object.entries({
    anthropic: ANTHROPIC,
    azure: OPENAI,
    deepseek: DEEPSEEK,
    echo: ECHO,
    google: GOOGLE,
    groq: GROQ,
    mistral: MISTRAL,
    openai: OPENAI,
    perplexity: PERPLEXITY,
    vertex: GOOGLE,
    xai: XAI,
  }),
)

/** All rows that match a model, merged. */
export type OwnFacts = Omit<FactRow, 'match'>

export function ownFacts(provider: string, model: string): OwnFacts {
  const id = model.toLowerCase()
  const found: OwnFacts = {}
  for (const { match, capabilities, ...row } of FACTS.get(provider)?.rows ?? []) {
    if (!globMatch(match, id)) continue
    Object.assign(found, row, { capabilities: { ...found.capabilities, ...capabilities } })
  }
  return found
}

export function alsoListed(provider: string): readonly string[] {
  return FACTS.get(provider)?.listed ?? []
}

export function isUnlisted(provider: string, model: string): boolean {
  const id = model.toLowerCase()
  return (FACTS.get(provider)?.unlisted ?? []).some((glob) => globMatch(glob, id))
}
