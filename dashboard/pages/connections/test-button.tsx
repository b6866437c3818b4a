// Sends a smallest request to the provider and says what came of it.
import { useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import { ms } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { Status } from '../../ui/status.tsx'

type Result = paths['/api/providers/{id}/test']['post']['responses'][200]['content']['application/json']

export async function testConnection(id: number): Promise<Result> {
  const result = await answerOf(api.POST('/api/providers/{id}/test', { params: { path: { id: String(id) } } as never, body: {} }))
  await invalidate('/api/providers', '/api/attention', '/api/model-catalog')
  return result
}

export function TestButton({ id }: { id: number }) {
  const [result, setResult] = useState<Result | null>(null)
  return (
    <div>
      <Button onClick={async () => setResult(await testConnection(id))}>Test</Button>{' '}
      {result !== null && <TestResult of={result} />}
    </div>
  )
}

export function TestResult({ of: { ok, status, latency_ms, model, error } }: { of: Result }) {
  if (ok)
    return (
      <Status tone="ok">
        answered in {ms(latency_ms)}
        {model !== null && ` with ${model}`}
      </Status>
    )
  return (
    <span role="status">
      <Status tone="failed">{status ?? 'no answer'}</Status> {error?.message} <span class="quiet">{error?.hint}</span>
    </span>
  )
}
