// Ids in the input of a request that an upstream of the same dialect gets.
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { EncodedCall } from '../../../core/types/request/context.ts'
import type { Parts } from '../parts.ts'
import type { Scope } from '../store.ts'
import type { Turn } from '../turn.ts'

const ID_MEMBERS = ['id', 'approval_request_id'] as const

/** Items that the caller sends whole, with ids of ours, get those of the account that made them. No other account knows an id. */
export async function withUpstreamIds(
  call: EncodedCall,
  { ids, store }: Pick<Parts, 'ids' | 'store'>,
  scope: Scope,
  known: ReadonlyMap<string, Turn>,
): Promise<void> {
  const input = call.body.get('input')
  if (!Array.isArray(input)) return
  const named = input.flatMap((item, index) => {
    const object = item as JsonObject | null
    return ID_MEMBERS.flatMap((member) => {
      const id = object?.[member]
      return typeof id === 'string' && ids.isOurs(id)
        ? [{ index, member, id, place: ids.read(id), item: object as JsonObject }]
        : []
    })
  })
  if (named.length === 0) return
  const turns = new Map(known)
  const unread = new Set(named.flatMap(({ place }) => (place === null || turns.has(place.token) ? [] : [place.token])))
  for (const [token, turn] of await store.turns(scope, [...unread])) turns.set(token, turn)
  const gone = new Set<number>()
  for (const { index, member, id, place, item } of named.reverse()) {
    const native = turns.get(place?.token ?? '')?.native
    const upstream = native?.connection === call.candidate.connection.id ? native.items[id] : undefined
    if (upstream !== undefined) call.body.set(`input.${index}.${member}`, upstream)
    else if (item.type === 'reasoning' && !item.encrypted_content) gone.add(index)
    else call.body.remove(`input.${index}.${member}`)
  }
  if (gone.size > 0)
    call.body.set(
      'input',
      (call.body.get('input') as JsonObject[]).filter((_, index) => !gone.has(index)),
    )
}
