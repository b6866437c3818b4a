// The types of the client. `npm run typecheck` checks this file: each line below `@ts-expect-error` must be an error.
import type { HookgateClient, ItemOf } from '../../adapters/client/index.ts'

export async function calls(client: HookgateClient): Promise<void> {
  const budget = await client.post('/api/budgets', { body: { scope: 'org', window: 'daily', hard_limit_usd: 5 } })
  const limit: number = budget.hard_limit_usd
  // @ts-expect-error no such member
  budget.hard_limit
  // @ts-expect-error a member of the body is missing
  await client.post('/api/budgets', { body: { scope: 'org', window: 'daily' } })
  // @ts-expect-error not a window
  await client.post('/api/budgets', { body: { scope: 'org', window: 'fortnightly', hard_limit_usd: limit } })
  // @ts-expect-error no body
  await client.post('/api/budgets')
  // @ts-expect-error no parameters of the path
  await client.get('/api/budgets/{id}')
  await client.get('/api/budgets/{id}', { path: { id: 1 } })
  // @ts-expect-error no such path
  await client.get('/api/budget')
  // @ts-expect-error the path has no DELETE
  await client.delete('/api/budgets')
  // @ts-expect-error no such member of the query
  await client.get('/api/logs', { query: { colour: 'red' } })
  // @ts-expect-error a GET has no body
  await client.get('/api/logs', { body: {} })
  // @ts-expect-error the export is not JSON: use `response`
  await client.get('/api/audit/export')
  const exported: Response = await client.response('get', '/api/audit/export')
  // @ts-expect-error not a list
  for await (const each of client.list('/api/settings')) console.log(each)
  for await (const { request_id, status } of client.list('/api/logs', { query: { limit: 10 } })) {
    const row: Pick<ItemOf<'/api/logs'>, 'request_id' | 'status'> = { request_id, status }
    console.log(row, exported)
  }
  for await (const message of client.events()) {
    if (message.event === 'request') console.log(message.data.cost.cost_usd)
    // @ts-expect-error only a request has a cost
    else console.log(message.data.cost)
  }
}
