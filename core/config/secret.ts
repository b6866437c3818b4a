// Secret references of a config file. They are resolved in memory, and the value is never stored.

export interface SecretRef {
  readonly secret: 'env' | 'file'
  readonly name: string
}

export const secret = {
  /** Refers to an environment variable. */
  env: (name: string): SecretRef => ({ secret: 'env', name }),
  /** Refers to the trimmed content of a file. */
  file: (path: string): SecretRef => ({ secret: 'file', name: path }),
}

export function isSecretRef(value: unknown): value is SecretRef {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false
  const { secret: kind, name } = value as Partial<SecretRef>
  return (kind === 'env' || kind === 'file') && typeof name === 'string'
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
}

/** Returns the secret. @throws Error naming the reference without a value. `where` is the place in the config. */
export function resolveSecret(value: string | SecretRef, sources: SecretSources, where: string): string {
  if (typeof value === 'string') return value
  const found = value.secret === 'env' ? sources.env[value.name] : sources.readFile(value.name)?.trim()
  if (found === undefined || found === null || found === '') {
    throw new Error(
      `${where}: ${value.secret === 'env' ? `the environment variable ${value.name} is not set` : `the file ${value.name} cannot be read or is empty`}.`,
    )
  }
  return found
}
