// Shares answers between replicas in the gateway's shared storage. They are sealed under the organization's key and bound to their place,
// so that others can neither read nor insert them. A store that does not answer counts as a miss.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { CachedCall } from '../../core/types/request/context.ts'
import type { KeptAnswer } from './kept-answer.ts'

export interface SharedStore {
  find(orgId: number | null, key: string, index: number): Promise<KeptAnswer | undefined>
  keep(orgId: number | null, key: string, index: number, answer: KeptAnswer): Promise<void>
}

const sealed = z.object({
  at: z.number(),
  ttlMs: z.number(),
  contentType: z.string(),
  body: z.base64(),
  call: z.custom<CachedCall>((value) => typeof value === 'object' && value !== null),
})

export function sharedStore({ storage, vault }: Pick<PluginGateway, 'storage' | 'vault'>): SharedStore {
  const place = (orgId: number | null, key: string, index: number) => ({
    table: 'exact_cache',
    id: `${key}:${index}`,
    column: 'answer',
    orgId,
  })
  return {
    async find(orgId, key, index) {
      const stored = await storage.getItem<{ sealed: string }>(`${key}:${index}`)
      if (typeof stored?.sealed !== 'string') return undefined
      const { body, ...rest } = sealed.parse(JSON.parse(await vault.open(stored.sealed, place(orgId, key, index))))
      return { ...rest, body: Buffer.from(body, 'base64') }
    },
    async keep(orgId, key, index, answer) {
      const text = JSON.stringify({ ...answer, body: Buffer.from(answer.body).toString('base64') })
      const value = { sealed: await vault.seal(text, place(orgId, key, index)) }
      await storage.setItem(`${key}:${index}`, value, { ttl: answer.ttlMs / 1000 })
    },
  }
}
