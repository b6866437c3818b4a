// The lines with the address that each SDK takes.
import { styled } from '../output/table.ts'

export function baseUrls(url: string): string {
  const lines = [
    ['OpenAI', `baseURL: '${url}/v1'`],
    ['Anthropic', `baseURL: '${url}'`],
    ['Google', `httpOptions: { baseUrl: '${url}' }`],
    ['AI SDK', `createHookgate({ baseURL: '${url}' }) of hookgate/ai-sdk`],
  ]
  return lines.map(([name = '', text]) => `  ${styled(name.padEnd(9), 'dim')}  ${text}`).join('\n')
}
