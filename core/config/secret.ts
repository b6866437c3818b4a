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
  return typeof value === 'object' && value !== null && 'secret' in value && 'name' in value
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
