// Unsupported features are refused in the caller's terms: the param is a member of the caller's body.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { text } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await createTestGateway({ upstream: [text('ok')] })
})
afterAll(() => gateway.close())

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const google = (target: string) => `/v1beta/models/${target}%2Fm:generateContent`
const tools = [{ functionDeclarations: [{ name: 'f' }] }, { codeExecution: {} }]
const forced = { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [''] } }

it.each([
  [google('responses'), { contents, generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount'],
  [google('responses'), { contents, generationConfig: { maxOutputTokens: 0 } }, 'generationConfig.maxOutputTokens'],
  [google('responses'), { contents, generationConfig: { responseModalities: ['AUDIO'] } }, 'generationConfig.responseModalities'],
  [google('messages'), { contents, tools, toolConfig: forced }, 'toolConfig.functionCallingConfig'],
  ['/v1/responses', { model: 'generate_content/m', input: 'hi', max_output_tokens: 0 }, 'max_output_tokens'],
  [
    '/v1/responses',
    { model: 'messages/m', input: 'hi', tools: [{ type: 'mcp' }, { type: 'web_search', filters: 1 }] },
    'tools[1].filters',
  ],
  ['/v1/messages', { model: 'responses/m', max_tokens: 0, messages: [{ role: 'user', content: 'hi' }] }, 'max_tokens'],
])('%s %j: %s', async (path, body, param) => {
  const response = await gateway.post(path, body)
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } })
  expect(response.status).toBe(400)
  expect(gateway.upstream.requests).toHaveLength(0)
})

it.each(['chat', 'responses', 'generate_content'])('an empty list of MCP servers is none for %s', async (target) => {
  const body = { model: `${target}/m`, max_tokens: 99, messages: [{ role: 'user', content: 'hi' }], mcp_servers: [] }
  expect((await gateway.post('/v1/messages', body)).status).toBe(200)
})
