// May this key use a model, and by which pattern?
import { useState } from 'preact/hooks'
import { globMatch } from '../../../core/text/glob.ts'
import { useGet } from '../../api/query.ts'
import { Status } from '../../ui/status.tsx'

export function PermissionTest({ allowed }: { allowed: readonly string[] }) {
  const [model, setModel] = useState('')
  const models = useGet('/api/models')
  // The gateway matches with the same function.
  const pattern = allowed.length === 0 ? '' : (allowed.find((glob) => globMatch(glob, model.trim())) ?? null)
  return (
    <div class="field">
      <label for="permission-model">May it use a model?</label>
      <input
        id="permission-model"
        list="permission-models"
        placeholder="openai/gpt-4o"
        value={model}
        onInput={(event) => setModel(event.currentTarget.value)}
      />
      <datalist id="permission-models">
        {(models.data?.data ?? []).slice(0, 500).map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      {model.trim() !== '' &&
        (pattern === null ? (
          <Status tone="refused">no pattern of this key allows it: 403</Status>
        ) : (
          <Status tone="ok">{pattern === '' ? 'allowed: the key has no list of models' : `allowed by ${pattern}`}</Status>
        ))}
    </div>
  )
}
