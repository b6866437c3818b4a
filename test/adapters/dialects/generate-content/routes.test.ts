import { describe, expect, it } from 'vitest'
import { driver } from './support.ts'

const parse = driver.routes[0]?.parse as (rest: string) => { model: string; stream: boolean } | null

describe('generate-content paths', () => {
  it('an encoded slash and a raw one name the same model', () => {
    expect(parse('anthropic%2Fclaude-x:streamGenerateContent')).toEqual({ model: 'anthropic/claude-x', stream: true })
    expect(parse('anthropic/claude-x:streamGenerateContent')).toEqual({ model: 'anthropic/claude-x', stream: true })
  })

  it('takes an encoded colon too, from clients that encode the whole segment', () => {
    expect(parse('anthropic%2Fclaude-x%3AstreamGenerateContent')).toEqual({ model: 'anthropic/claude-x', stream: true })
    expect(parse('llama3%3a8b%3agenerateContent')).toEqual({ model: 'llama3:8b', stream: false })
    expect(parse('llama3%3A8b:generateContent')).toEqual({ model: 'llama3:8b', stream: false })
    expect(parse('%3AgenerateContent')).toBeNull()
  })

  it('splits at the last colon and decodes exactly once', () => {
    expect(parse('llama3:8b:generateContent')).toEqual({ model: 'llama3:8b', stream: false })
    expect(parse('a%252Fb:generateContent')).toEqual({ model: 'a%2Fb', stream: false })
    expect(parse('models/x%20 :generateContent')).toEqual({ model: 'models/x  ', stream: false })
  })

  it('knows two verbs only', () => {
    for (const rest of [
      'm:countTokens',
      'm:GenerateContent',
      'm',
      'm:',
      ':generateContent',
      '%zz:generateContent',
      'm:embedContent',
    ]) {
      expect(parse(rest)).toBeNull()
    }
  })

  it('is served with and without the `models` segment, for concrete models, within the default body limit', () => {
    expect(driver.routes.map(({ path, operation, bodyLimit, models }) => ({ path, operation, bodyLimit, models }))).toEqual([
      ...['/v1beta/models/*', '/v1/models/*', '/v1beta/*'].flatMap((path) =>
        ['chat', 'count_tokens'].map((operation) => ({ path, operation, bodyLimit: 'default', models: 'concrete' })),
      ),
    ])
  })
})
