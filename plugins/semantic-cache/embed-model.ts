// The embedding model: a concrete model of an external provider. A virtual one could depend on the answer that it should find, so it is
// refused and the cache stays off.
export interface EmbedModel {
  readonly name: string
  /** Id or alias. */
  readonly provider: string
  readonly model: string
}

export interface Known {
  /** Names of GATEWAY_ROUTES and of the free pool. */
  readonly internalNames: ReadonlySet<string>
  knowsProvider(provider: string): boolean
}

/** The model, or why it cannot be one. */
export function embedModelOf(name: string | null, { internalNames, knowsProvider }: Known): EmbedModel | { reason: string } {
  if (name === null || name === '') return { reason: 'no embed model is set' }
  const slash = name.indexOf('/')
  if (name === 'auto' || name.startsWith('auto/')) return { reason: '`auto` is no external model' }
  if (name.startsWith('gateway/') || internalNames.has(name)) return { reason: `\`${name}\` is a model of this gateway` }
  if (slash <= 0 || slash === name.length - 1) return { reason: `\`${name}\` names no provider: write \`provider/model\`` }
  const provider = name.slice(0, slash)
  if (!knowsProvider(provider)) return { reason: `no connection is of the provider \`${provider}\`` }
  return { name, provider, model: name.slice(slash + 1) }
}
