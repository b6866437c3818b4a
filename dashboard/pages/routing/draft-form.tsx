// The form of a draft.
import { useGet } from '../../api/query.ts'
import { CheckField, SelectField, TextField } from '../../ui/form.tsx'
import { numberOf } from '../../ui/number-text.ts'
import { type Draft, STRATEGIES, type Strategy } from './draft.ts'
import { Targets } from './targets.tsx'

type Config = NonNullable<Draft['config']>

const MODALITIES = [
  ['text', 'text: chat and the other conversations'],
  ['image', 'images: /v1/images'],
] as const

interface DraftFormProps {
  draft: Draft
  locked: boolean
  onChange: (draft: Draft) => void
}

export function DraftForm({ draft, locked, onChange }: DraftFormProps) {
  const models = useGet('/api/models')
  const names = (models.data?.data ?? []).map(({ id }) => id)
  const change = (changes: Partial<Draft>): void => onChange({ ...draft, ...changes })
  const configure = (changes: Partial<Config>): void => change({ config: { ...draft.config, ...changes } })
  const { config = {} } = draft
  return (
    <>
      <div class="form-row">
        <TextField
          name="name"
          label="Name"
          hint="Callers send it as model."
          disabled={locked}
          value={draft.name}
          onInput={(name) => change({ name })}
        />
        <SelectField
          name="strategy"
          label="Strategy"
          options={STRATEGIES}
          disabled={locked}
          value={draft.strategy}
          onInput={(strategy) => change({ strategy: strategy as Strategy })}
        />
      </div>
      <SelectField
        name="modality"
        label="Answers with"
        options={MODALITIES}
        disabled={locked}
        value={draft.modality ?? 'text'}
        onInput={(modality) => change({ modality: modality as 'text' | 'image' })}
      />
      <Targets
        targets={draft.targets}
        names={names}
        locked={locked}
        weighted={draft.strategy === 'weighted'}
        onChange={(targets) => change({ targets })}
      />
      <TextField
        name="description"
        label="Description"
        disabled={locked}
        value={draft.description ?? ''}
        onInput={(description) => change({ description })}
      />
      {draft.strategy === 'fusion' && (
        <div class="form-row">
          <TextField
            name="config.judge"
            label="Judge"
            hint="Empty: the first target"
            options={names}
            disabled={locked}
            value={config.judge ?? ''}
            onInput={(judge) => configure({ judge: judge === '' ? null : judge })}
          />
          <TextField
            name="config.min_panel"
            label="Answers needed"
            type="number"
            disabled={locked}
            value={String(config.min_panel ?? 2)}
            onInput={(text) => configure({ min_panel: numberOf(text) as number })}
          />
        </div>
      )}
      <div class="form-row">
        <TextField
          name="config.max_attempts"
          label="Attempts at most"
          hint="0: all targets"
          type="number"
          disabled={locked}
          value={String(config.max_attempts ?? 0)}
          onInput={(text) => configure({ max_attempts: numberOf(text) as number })}
        />
        <TextField
          name="config.sticky_ttl_secs"
          label="Seconds that a session stays"
          type="number"
          disabled={locked || config.session_sticky === false}
          value={String(config.sticky_ttl_secs ?? 900)}
          onInput={(text) => configure({ sticky_ttl_secs: numberOf(text) as number })}
        />
      </div>
      <div class="form-row">
        <CheckField
          name="config.session_sticky"
          label="A session stays on its target"
          disabled={locked}
          value={config.session_sticky ?? true}
          onInput={(session_sticky) => configure({ session_sticky })}
        />
        <CheckField
          name="enabled"
          label="Enabled"
          disabled={locked}
          value={draft.enabled ?? true}
          onInput={(enabled) => change({ enabled })}
        />
      </div>
    </>
  )
}
