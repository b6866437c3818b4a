// Makes what the routes of stored responses read.
import type { TestGateway } from '../../adapters/testing/test-gateway.ts'

/** Ids of things that routes of the data plane read, made without a key unless `headers` have one. */
export async function storedIds(t: TestGateway, headers: Record<string, string> = {}) {
  const make = async (path: string, body: object): Promise<string> =>
    ((await (await t.post(path, body, headers)).json()) as { id: string }).id
  const response = await make('/v1/responses', { model: 'echo/echo-1', input: 'Hi' })
  const background = await make('/v1/responses', { model: 'echo/echo-1', input: 'Hi', background: true })
  const conversation = await make('/v1/conversations', { items: [{ role: 'user', content: 'Hi' }] })
  await t.gateway.committed()
  const list = await t.fetch(`/v1/conversations/${conversation}/items`, { headers })
  const item = ((await list.json()) as { data: { id: string }[] }).data[0]?.id as string
  return { response, background, conversation, item }
}
