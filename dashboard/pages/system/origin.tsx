// Where the value of a setting comes from: default → file → environment → stored → organization, the winner bold. A later one wins, unless
// the file pins.

export type Source = 'default' | 'config' | 'env' | 'runtime' | 'organization'

const CHAIN: readonly (readonly [Source, string])[] = [
  ['default', 'default'],
  ['config', 'file'],
  ['env', 'env'],
  ['runtime', 'stored'],
]
const OWN = ['organization', 'organization'] as const

export function Origin({ source, pinned }: { source: Source; pinned: boolean }) {
  return (
    <span class="origin">
      {(source === 'organization' ? [...CHAIN, OWN] : CHAIN).map(([id, name], index) => (
        <span key={id}>
          {index > 0 && <span aria-hidden="true">→ </span>}
          {id === source ? <strong>{name}</strong> : name}
        </span>
      ))}
      {pinned && (
        <span class="lock" title="gateway.config.ts pins this value. Change it there.">
          <span aria-hidden="true">🔒︎</span> pinned by gateway.config.ts
        </span>
      )}
    </span>
  )
}
