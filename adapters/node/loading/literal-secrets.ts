// Finds literal secrets in a configuration file. `process.env.NAME` is not one: the text does not contain its value.
import { isSecretMember } from '../../../core/config/declaration.ts'
import { type GatewayConfig, sectionsOf } from '../../../core/config/define.ts'

export const LITERAL_SECRET = "Put the value into a variable or a file, and write `secret.env('NAME')` or `secret.file('/path')`."

/** Shorter values occur in a text by chance. */
const LEAST_CHARACTERS = 8

/**
 * Returns paths such as `connections.up.apiKey`, never a value.
 * @param sources texts of the files that form the configuration
 */
export function literalSecrets(config: GatewayConfig, sources: Iterable<string>): string[] {
  const texts = [...sources]
  const found: string[] = []
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [member, inside] of Object.entries(value)) visit(inside, [...path, member])
      return
    }
    const member = path.at(-1) ?? ''
    if (typeof value !== 'string' || value.length < LEAST_CHARACTERS) return
    if (!isSecretMember(member) && path.at(-2) !== 'headers') return
    if (member === 'proxyUrl' && !/^\w+:\/\/[^/]*@/.test(value)) return
    if (texts.some((text) => text.includes(value))) found.push(path.join('.'))
  }
  visit(sectionsOf(config), [])
  return found
}
