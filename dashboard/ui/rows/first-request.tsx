// Help for a first request: the address of this gateway and snippets for curl and SDKs.
import { useState } from 'preact/hooks'
import { useGet } from '../../api/query.ts'
import { mount } from '../../app/mount.ts'
import { Copy } from '../button.tsx'

const SNIPPETS: Readonly<Record<string, (base: string, model: string) => string>> = {
  curl: (base, model) =>
    `curl ${base}/v1/chat/completions \\\n  -H "Authorization: Bearer $HOOKGATE_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
  'openai (Node)': (base, model) =>
    `import OpenAI from 'openai'\n\nconst client = new OpenAI({ baseURL: '${base}/v1', apiKey: process.env.HOOKGATE_KEY })\nconst answer = await client.chat.completions.create({\n  model: '${model}',\n  messages: [{ role: 'user', content: 'Hello' }],\n})`,
  'anthropic (Node)': (base, model) =>
    `import Anthropic from '@anthropic-ai/sdk'\n\nconst client = new Anthropic({ baseURL: '${base}', apiKey: process.env.HOOKGATE_KEY })\nconst answer = await client.messages.create({\n  model: '${model}',\n  max_tokens: 256,\n  messages: [{ role: 'user', content: 'Hello' }],\n})`,
  'google (Node)': (base, model) =>
    `import { GoogleGenAI } from '@google/genai'\n\nconst client = new GoogleGenAI({ apiKey: process.env.HOOKGATE_KEY, httpOptions: { baseUrl: '${base}' } })\nconst answer = await client.models.generateContent({ model: '${model}', contents: 'Hello' })`,
}

export function FirstRequest() {
  const [name, setName] = useState('curl')
  const models = useGet('/api/models')
  const base = location.origin + mount
  const model = models.data?.data[0]?.id ?? 'echo/echo-1'
  const text = SNIPPETS[name]?.(base, model) ?? ''
  return (
    <div class="first-request">
      <p>
        Base URL <code>{base}/v1</code> <Copy text={`${base}/v1`} />
      </p>
      <div class="actions">
        {Object.keys(SNIPPETS).map((id) => (
          <button key={id} type="button" class="button plain" aria-pressed={id === name} onClick={() => setName(id)}>
            {id}
          </button>
        ))}
        <Copy text={text} label="Copy snippet" />
      </div>
      <pre>{text}</pre>
    </div>
  )
}
