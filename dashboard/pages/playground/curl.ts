// The request as a command line.
import { mount } from '../../app/mount.ts'
import type { Dialect } from './samples.ts'

export function curlOf(dialect: Dialect, { model, stream, ...rest }: Record<string, unknown>): string {
  const base = location.origin + mount
  const paths: Record<Dialect, string> = {
    chat: '/v1/chat/completions',
    messages: '/v1/messages',
    responses: '/v1/responses',
    generate_content: `/v1beta/models/${String(model)}:${stream === true ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  }
  const body = dialect === 'generate_content' ? rest : { model, stream, ...rest }
  const json = JSON.stringify(body).replaceAll("'", "'\\''")
  return `curl '${base}${paths[dialect]}' \\\n  -H "Authorization: Bearer $HOOKGATE_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '${json}'`
}
