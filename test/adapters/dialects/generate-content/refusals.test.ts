import { describe, expect, it } from 'vitest'
import { encode, request } from './support.ts'

describe('what Gemini cannot do', () => {
  it('two candidates are accepted in a whole answer and refused in a stream', () => {
    expect(encode(request({ sampling: { n: 2 } })).body.generationConfig).toEqual({ candidateCount: 2 })
    expect(() => encode(request({ stream: true, sampling: { n: 2 } }))).toThrow(
      expect.objectContaining({ param: 'n', code: 'unsupported_for_target' }),
    )
    expect(() => encode(request({ sampling: { n: 9 } }))).toThrow(expect.objectContaining({ param: 'n' }))
  })

  it('refuses server-side state and what only others have', () => {
    expect(() => encode(request({ state: { previousResponseId: 'resp_1' } }))).toThrow(
      expect.objectContaining({ param: 'previous_response_id' }),
    )
    expect(() => encode(request({ state: { background: true } }))).toThrow(expect.objectContaining({ param: 'background' }))
    expect(() => encode(request({ ext: { messages: { mcp_servers: [{}] } } }))).toThrow(
      expect.objectContaining({ param: 'mcp_servers' }),
    )
    expect(() => encode(request({ maxTokens: 0 }))).toThrow(expect.objectContaining({ param: 'max_tokens' }))
    expect(encode(request({ state: { store: true, background: false } })).body).toHaveProperty('contents')
  })
})
