// Secret references of a config file. They are resolved in memory, and the value is never stored.

export type SecretRef =
  | { readonly secret: 'env' | 'file'; readonly name: string }
  /** Resolved by the plugin that offers a resolver of this scheme. */
  | { readonly secret: 'plugin'; readonly scheme: string; readonly name: string }

export const secret = {
  /** Refers to an environment variable. */
  env: (name: string): SecretRef => ({ secret: 'env', name }),
  /** Refers to the trimmed content of a file. */
  file: (path: string): SecretRef => ({ secret: 'file', name: path }),
  /** Refers to a secret of a plugin's resolver: `secret.from('vault', 'llm/key')`. */
  from: (scheme: string, name: string): SecretRef => ({ secret: 'plugin', scheme, name }),
}

export function isSecretRef(value: unknown): value is SecretRef {
  if (typeof value !== 'object' || value === null) return false
  const { secret: kind, name, scheme } = value as { secret?: unknown; name?: unknown; scheme?: unknown }
  if (typeof name !== 'string') return false
  const members = Object.keys(value).length
  return kind === 'plugin' ? members === 3 && typeof scheme === 'string' : members === 2 && (kind === 'env' || kind === 'file')
}

/** A type in which every free text may be a reference to a secret. */
export type WithSecrets<T> = T extends string
  ? string extends T
    ? T | SecretRef
    : T
  : T extends (...args: never[]) => unknown
    ? T
    : T extends readonly (infer U)[]
      ? WithSecrets<U>[]
      : T extends object
        ? { [K in keyof T]: WithSecrets<T[K]> }
        : T

/** Returns a copy in which the references have their values. Lists and plain objects are searched. @throws Error naming the place. */
export function withSecretValues(
  value: unknown,
  resolve: (reference: SecretRef, where: string) => string,
  where: string,
): unknown {
  if (isSecretRef(value)) return resolve(value, where)
  if (Array.isArray(value)) return value.map((item, index) => withSecretValues(item, resolve, `${where}[${index}]`))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withSecretValues(member, resolve, `${where}.${name}`)]),
  )
}

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** null when the file cannot be read. */
  readFile(path: string): string | null
  /** Values of plugins' resolvers, by `keyOf`. */
  readonly resolved?: ReadonlyMap<string, string>
}

/** Returns the key of a reference in `resolved`. */
export function keyOf({ scheme, name }: { readonly scheme: string; readonly name: string }): string {
  return `${scheme}:${name}`
}

export interface PlacedSecret {
  readonly scheme: string
  readonly name: string
  readonly where: string
}

/** Largest nesting that is searched for references. */
const MAX_DEPTH = 16

/** Returns the references to secrets of plugins in lists and plain objects, each with its place. */
export function pluginSecretsIn(value: unknown, where: string, depth = 0): PlacedSecret[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return []
  if (isSecretRef(value)) return value.secret === 'plugin' ? [{ scheme: value.scheme, name: value.name, where }] : []
  if (Array.isArray(value)) return value.flatMap((item, index) => pluginSecretsIn(item, `${where}[${index}]`, depth + 1))
  if (Object.getPrototypeOf(value) !== Object.prototype) return []
  return Object.entries(value).flatMap(([name, member]) => pluginSecretsIn(member, `${where}.${name}`, depth + 1))
}

export function hasPluginSecrets(value: unknown): boolean {
  return pluginSecretsIn(value, '').length > 0
}

/** Returns the secret. @throws Error naming the reference without a value. `where` is the place in the config. */
export function resolveSecret(value: string | SecretRef, sources: SecretSources, where: string): string {
  if (typeof value === 'string') return value
  if (value.secret === 'plugin') {
    const resolved = sources.resolved?.get(keyOf(value))
    if (resolved !== undefined) return resolved
    throw new Error(`${where}: the secret \`${value.name}\` of \`${value.scheme}\` is not resolved yet.`)
  }
  const found = value.secret === 'env' ? sources.env[value.name] : sources.readFile(value.name)?.trim()
  if (found === undefined || found === null || found === '') {
    throw new Error(
      `${where}: ${value.secret === 'env' ? `the environment variable ${value.name} is not set` : `the file ${value.name} cannot be read or is empty`}.`,
    )
  }
  return found
}
