// One target in the list of a virtual model: its model, its weight, its connection, and its place.
import type { Ref } from 'preact'
import type { Connection } from '../../ui/rows/connection-status.tsx'
import type { Draft } from './draft.ts'

export type Given = Draft['targets'][number]
export type Full = Exclude<Given, string>

export const full = (target: Given): Full => (typeof target === 'string' ? { target } : target)

interface TargetRowProps {
  given: Given
  index: number
  count: number
  models: string
  connections: readonly Connection[]
  locked: boolean
  weighted: boolean
  dragged: boolean
  handle: Ref<HTMLButtonElement>
  onChange: (changes: Partial<Full>) => void
  onMove: (to: number) => void
  onRemove: () => void
  onDragStart: (event: PointerEvent) => void
}

export function TargetRow({ given, index, count, models, connections, locked, weighted, dragged, ...row }: TargetRowProps) {
  const { target = '', weight = 1, connection_id = null, enabled = true } = full(given)
  const provider = target.slice(0, Math.max(target.indexOf('/'), 0))
  const accounts = connections.filter((one) => one.provider === provider)
  const number = index + 1
  return (
    <li class={dragged ? 'dragged' : ''} data-target={index}>
      {locked ? (
        <span class="target-number">{number}</span>
      ) : (
        <button
          ref={row.handle}
          type="button"
          class="target-handle"
          aria-label={`Target ${number} of ${count}: move with the arrow keys, or drag`}
          title="Move with the arrow keys, or drag"
          onPointerDown={row.onDragStart}
          onKeyDown={(event) => {
            const to = event.key === 'ArrowUp' ? index - 1 : event.key === 'ArrowDown' ? index + 1 : index
            if (to === index) return
            event.preventDefault()
            row.onMove(to)
          }}
        >
          <span aria-hidden="true">⠿</span> {number}
        </button>
      )}
      <input
        aria-label={`Target ${number}`}
        list={models}
        placeholder="provider/model"
        spellcheck={false}
        disabled={locked}
        value={target}
        onInput={(event) => row.onChange({ target: event.currentTarget.value })}
      />
      {weighted && (
        <input
          aria-label={`Weight of target ${number}`}
          title="Weight"
          type="number"
          min="0"
          step="any"
          disabled={locked}
          value={weight}
          onInput={(event) => row.onChange({ weight: Number(event.currentTarget.value) })}
        />
      )}
      <select
        aria-label={`Connection of target ${number}`}
        disabled={locked}
        value={connection_id ?? ''}
        onChange={(event) =>
          row.onChange({ connection_id: event.currentTarget.value === '' ? null : Number(event.currentTarget.value) })
        }
      >
        <option value="">any connection</option>
        {accounts.map((account) => (
          <option key={account.id} value={account.id}>
            {account.label}
          </option>
        ))}
      </select>
      <label class="target-enabled">
        <input
          type="checkbox"
          disabled={locked}
          checked={enabled}
          onChange={(event) => row.onChange({ enabled: event.currentTarget.checked })}
        />{' '}
        on
      </label>
      {!locked && (
        <button type="button" class="button plain" aria-label={`Remove target ${number}`} onClick={row.onRemove}>
          ✕
        </button>
      )}
    </li>
  )
}
