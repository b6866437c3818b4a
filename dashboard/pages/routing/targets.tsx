// The targets of a virtual model in their order. The handle of a row moves it, with the arrow keys or the pointer.
import { useEffect, useRef, useState } from 'preact/hooks'
import { useGet } from '../../api/query.ts'
import { Field } from '../../ui/form.tsx'
import { type Full, full, type Given, TargetRow } from './target-row.tsx'

interface TargetsProps {
  targets: readonly Given[]
  names: readonly string[]
  locked: boolean
  weighted: boolean
  onChange: (targets: Given[]) => void
}

const SHOWN = 2000

export function Targets({ targets, names, locked, weighted, onChange }: TargetsProps) {
  const connections = useGet('/api/providers')
  const list = useRef<HTMLOListElement>(null)
  const handles = useRef<(HTMLButtonElement | null)[]>([])
  /** The row that moved, so that the focus moves with it. */
  const moved = useRef<number | null>(null)
  const [dragged, setDragged] = useState<number | null>(null)
  const [said, setSaid] = useState('')
  const change = (index: number, changes: Partial<Full>): void =>
    onChange(targets.map((target, at) => (at === index ? { ...full(target), ...changes } : target)))
  const move = (from: number, to: number): void => {
    if (to < 0 || to >= targets.length || to === from) return
    const next = [...targets]
    const [target] = next.splice(from, 1)
    if (target !== undefined) next.splice(to, 0, target)
    moved.current = to
    setSaid(`${full(target ?? '').target ?? ''} is now target ${to + 1} of ${targets.length}`)
    onChange(next)
  }
  useEffect(() => {
    if (moved.current === null) return
    handles.current[moved.current]?.focus()
    moved.current = null
  }, [targets])
  // The pointer may leave the list while it drags, so the document hears it.
  const latest = useRef(move)
  latest.current = move
  const drag = (event: PointerEvent, from: number): void => {
    if (event.button !== 0) return
    let at = from
    setDragged(from)
    const follow = ({ clientY }: PointerEvent): void => {
      const rows = [...(list.current?.querySelectorAll('li') ?? [])]
      const to = rows.findIndex((row) => clientY < row.getBoundingClientRect().bottom)
      const next = to === -1 ? rows.length - 1 : to
      if (next === at) return
      latest.current(at, next)
      at = next
      setDragged(next)
    }
    const end = (): void => {
      document.removeEventListener('pointermove', follow)
      document.removeEventListener('pointerup', end)
      document.removeEventListener('pointercancel', end)
      setDragged(null)
    }
    document.addEventListener('pointermove', follow)
    document.addEventListener('pointerup', end)
    document.addEventListener('pointercancel', end)
  }
  return (
    <Field name="targets" label="Targets">
      {({ id, ...described }) => (
        <div class="targets" id={id} role="group" aria-label="Targets" {...described}>
          <datalist id={`${id}-models`}>
            {names.slice(0, SHOWN).map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <ol ref={list}>
            {targets.map((given, index) => (
              <TargetRow
                key={index}
                given={given}
                index={index}
                count={targets.length}
                models={`${id}-models`}
                connections={connections.data?.data ?? []}
                locked={locked}
                weighted={weighted}
                dragged={dragged === index}
                handle={(element) => {
                  handles.current[index] = element
                }}
                onChange={(changes) => change(index, changes)}
                onMove={(to) => move(index, to)}
                onRemove={() => onChange(targets.filter((_, at) => at !== index))}
                onDragStart={(event) => drag(event, index)}
              />
            ))}
          </ol>
          <span class="visually-hidden" role="status">
            {said}
          </span>
          {!locked && (
            <button
              type="button"
              class="button"
              onClick={() => onChange([...targets, { target: '', weight: 1, connection_id: null, enabled: true }])}
            >
              Add a target
            </button>
          )}
        </div>
      )}
    </Field>
  )
}
