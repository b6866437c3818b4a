// The request as code: a command line, and calls of each vendor's own library.
import { mount } from '../../app/mount.ts'
import type { Dialect } from './samples.ts'

export type Language = 'curl' | 'python' | 'javascript'

export const LANGUAGES: readonly (readonly [Language, string])[] = [
  ['curl', 'Copy as curl'],
  ['python', 'as Python'],
  ['javascript', 'as JavaScript'],
]

type Body = Readonly<Record<string, unknown>>

export function snippetOf(language: Language, dialect: Dialect, body: Body): string {
  if (language === 'curl') return curlOf(dialect, body)
  if (language === 'javascript') return javascriptOf(dialect, body)
  const code = pythonOf(dialect, body)
  return code.includes('json.loads(') ? `import json\n${code}` : code
}

const base = (): string => location.origin + mount

function curlOf(dialect: Dialect, { model, stream, ...rest }: Body): string {
  const paths: Record<Dialect, string> = {
    chat: '/v1/chat/completions',
    messages: '/v1/messages',
    responses: '/v1/responses',
    generate_content: `/v1beta/models/${String(model)}:${stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  }
  const body = dialect === 'generate_content' ? rest : { model, stream, ...rest }
  const json = JSON.stringify(body).replaceAll("'", "'\\''")
  return `curl '${base()}${paths[dialect]}' \\\n  -H "Authorization: Bearer $HOOKGATE_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '${json}'`
}

function pythonOf(dialect: Dialect, body: Body): string {
  const key = 'api_key=os.environ["HOOKGATE_KEY"]'
  const members = (given: Body): string =>
    entries(given)
      .map(([name, value]) => `    ${name}=${python(value, 1)},`)
      .join('\n')
  if (dialect === 'messages')
    return `import os\nfrom anthropic import Anthropic\n\nclient = Anthropic(base_url="${base()}", ${key})\nanswer = client.messages.create(\n${members(body)}\n)\n`
  if (dialect === 'generate_content') {
    const method = body.stream === true ? 'generate_content_stream' : 'generate_content'
    return `import os\nfrom google import genai\n\nclient = genai.Client(${key}, http_options={"base_url": "${base()}"})\nanswer = client.models.${method}(\n${members(genaiCall(body))}\n)\n`
  }
  const method = dialect === 'responses' ? 'responses' : 'chat.completions'
  return `import os\nfrom openai import OpenAI\n\nclient = OpenAI(base_url="${base()}/v1", ${key})\nanswer = client.${method}.create(\n${members(body)}\n)\n`
}

function javascriptOf(dialect: Dialect, body: Body): string {
  const key = 'apiKey: process.env.HOOKGATE_KEY'
  const json = (given: Body): string => JSON.stringify(given, null, 2)
  if (dialect === 'messages')
    return `import Anthropic from '@anthropic-ai/sdk'\n\nconst client = new Anthropic({ baseURL: '${base()}', ${key} })\nconst answer = await client.messages.create(${json(body)})\n`
  if (dialect === 'generate_content') {
    const method = body.stream === true ? 'generateContentStream' : 'generateContent'
    return `import { GoogleGenAI } from '@google/genai'\n\nconst client = new GoogleGenAI({ ${key}, httpOptions: { baseUrl: '${base()}' } })\nconst answer = await client.models.${method}(${json(genaiCall(body))})\n`
  }
  const method = dialect === 'responses' ? 'responses' : 'chat.completions'
  return `import OpenAI from 'openai'\n\nconst client = new OpenAI({ baseURL: '${base()}/v1', ${key} })\nconst answer = await client.${method}.create(${json(body)})\n`
}

/** The library takes everything but the conversation as `config`. */
function genaiCall({ model, stream: _, contents, generationConfig, ...rest }: Body): Body {
  const config = { ...(generationConfig as object | undefined), ...rest }
  return { model, contents, ...(Object.keys(config).length > 0 && { config }) }
}

const entries = (body: Body): [string, unknown][] => Object.entries(body).filter(([, value]) => value !== undefined)

/** Deeper values are written on one line, so that the depth has a bound. */
const DEEPEST = 12

function python(value: unknown, depth: number): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  if (depth > DEEPEST) return `json.loads(${JSON.stringify(JSON.stringify(value))})`
  const [inner, outer] = ['    '.repeat(depth + 1), '    '.repeat(depth)]
  const lines = Array.isArray(value)
    ? value.map((one) => `${inner}${python(one, depth + 1)},`)
    : entries(value as Body).map(([name, one]) => `${inner}${JSON.stringify(name)}: ${python(one, depth + 1)},`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return lines.length === 0 ? open + close : `${open}\n${lines.join('\n')}\n${outer}${close}`
}
