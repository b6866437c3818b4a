// The targets of a virtual model in their order.
import { useGet } from '../../api/query.ts'
import { Field } from '../../ui/form.tsx'
import type { Draft } from './draft.ts'

type Given = Draft['targets'][number]
type Full = Exclude<Given, string>

interface TargetsProps {
  targets: readonly Given[]
  names: readonly string[]
  locked: boolean
  weighted: boolean
  onChange: (targets: Given[]) => void
}

const full = (target: Given): Full => (typeof target === 'string' ? { target } : target)

export function Targets({ targets, names, locked, weighted, onChange }: TargetsProps) {
  const connections = useGet('/api/providers')
  const change = (index: number, changes: Partial<Full>): void =>
    onChange(targets.map((target, at) => (at === index ? { ...full(target), ...changes } : target)))
  const move = (index: number, by: number): void => {
    const next = [...targets]
    const [target] = next.splice(index, 1)
    if (target !== undefined) next.splice(index + by, 0, target)
    onChange(next)
  }
  return (
    <Field name="targets" label="Targets">
      {({ id, ...described }) => (
        <div class="targets" id={id} {...described}>
          <datalist id={`${id}-models`}>
            {names.slice(0, 2000).map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <ol>
            {targets.map((given, index) => {
              const { target = '', weight = 1, connection_id = null, enabled = true } = full(given)
              const provider = target.slice(0, Math.max(target.indexOf('/'), 0))
              const accounts = (connections.data?.data ?? []).filter((one) => one.provider === provider)
              return (
                <li key={index}>
                  <span class="target-number">{index + 1}</span>
                  <input
                    aria-label={`Target ${index + 1}`}
                    list={`${id}-models`}
                    placeholder="provider/model"
                    spellcheck={false}
                    disabled={locked}
                    value={target}
                    onInput={(event) => change(index, { target: event.currentTarget.value })}
                  />
                  {weighted && (
                    <input
                      aria-label={`Weight of target ${index + 1}`}
                      type="number"
                      min="0"
                      step="any"
                      disabled={locked}
                      value={weight}
                      onInput={(event) => change(index, { weight: Number(event.currentTarget.value) })}
                    />
                  )}
                  <select
                    aria-label={`Connection of target ${index + 1}`}
                    disabled={locked}
                    value={connection_id ?? ''}
                    onChange={(event) =>
                      change(index, {
                        connection_id: event.currentTarget.value === '' ? null : Number(event.currentTarget.value),
                      })
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
                      onChange={(event) => change(index, { enabled: event.currentTarget.checked })}
                    />{' '}
                    on
                  </label>
                  {!locked && (
                    <span class="target-moves">
                      <button
                        type="button"
                        class="button plain"
                        aria-label={`Move target ${index + 1} up`}
                        disabled={index === 0}
                        onClick={() => move(index, -1)}
                      >
                        ↑
                      </button>
                      <button
                        type="button"
                        class="button plain"
                        aria-label={`Move target ${index + 1} down`}
                        disabled={index === targets.length - 1}
                        onClick={() => move(index, 1)}
                      >
                        ↓
                      </button>
                      <button
                        type="button"
                        class="button plain"
                        aria-label={`Remove target ${index + 1}`}
                        onClick={() => onChange(targets.filter((_, at) => at !== index))}
                      >
                        ✕
                      </button>
                    </span>
                  )}
                </li>
              )
            })}
          </ol>
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
