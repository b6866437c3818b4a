// Vectors that workers share: each has all of them in its own memory, so that no search waits for another process. A worker that starts
// later gets those that are added from then on.
import type { VectorEntry, VectorStore } from '../../../core/types/ports/ports.ts'
import type { Siblings } from '../../../core/types/ports/siblings.ts'

type Sent = readonly [scope: string, vector: string, entry: Omit<VectorEntry, 'vector'>]

const TOPIC = 'vectors'

export function ipcVectors(local: VectorStore, siblings: Pick<Siblings, 'tell' | 'on'>): VectorStore {
  siblings.on(TOPIC, (data) => {
    const [scope, text, entry] = data as Sent
    const bytes = Buffer.from(text, 'base64')
    // A copy, because the bytes may begin at any address.
    void local.add(scope, { ...entry, vector: new Float32Array(new Uint8Array(bytes).buffer) })
  })
  return {
    async add(scope, { vector, ...entry }) {
      const text = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
      siblings.tell(TOPIC, [scope, text, entry] satisfies Sent)
      await local.add(scope, { ...entry, vector })
    },
    nearest: (scope, vector) => local.nearest(scope, vector),
    sweep: () => local.sweep(),
  }
}
