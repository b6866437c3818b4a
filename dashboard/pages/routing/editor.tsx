// Edits one virtual model, as a form or as text, beside a preview of the order that requests take now.
import { useEffect, useRef, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { invalidate } from '../../api/query.ts'
import { query as address, go, setQuery } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { AddressNote } from '../../ui/notes/address-note.tsx'
import { Panel } from '../../ui/page.tsx'
import { Owner } from '../../ui/status.tsx'
import { Changes } from './changes.tsx'
import { configText, type Draft, draftFromText, draftOf, emptyDraft, sameDraft, type VirtualModel } from './draft.ts'
import { DraftForm } from './draft-form.tsx'
import { Preview } from './preview.tsx'
import { RECIPES } from './recipes.ts'
import { ShadowNote } from './shadow-note.tsx'
import { Simulate } from './simulate.tsx'

export function Editor({ saved }: { saved: VirtualModel | undefined }) {
  const recipe = RECIPES.find(({ id }) => id === address.value.get('recipe'))
  const stored = saved ? draftOf(saved) : emptyDraft(recipe?.draft)
  /** What the draft is compared with. */
  const [base, setBase] = useState<Draft>(stored)
  const [draft, setDraft] = useState<Draft>(stored)
  const [text, setText] = useState<string | null>(null)
  const [wrongText, setWrongText] = useState<string | null>(null)
  const form = useRef<HTMLDivElement>(null)
  const locked = saved?.managed_by === 'config' || !may('manage')
  const changed = saved === undefined || !sameDraft(draft, base)
  const asText = address.value.get('as') === 'text'

  const replace = (next: Draft): void => {
    setBase(next)
    setDraft(next)
    setText(null)
    setWrongText(null)
  }
  // Another tab or a lever changed what is saved: an untouched draft follows, a draft of one's own stays.
  useEffect(() => {
    if (saved === undefined || sameDraft(stored, base)) return
    if (sameDraft(draft, base) && wrongText === null) replace(stored)
    else setBase(stored)
  }, [saved?.updated_at])

  useEffect(() => {
    const leaving = (event: BeforeUnloadEvent): void => {
      if (changed && saved !== undefined) event.preventDefault()
    }
    const saving = (event: KeyboardEvent): void => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || locked) return
      event.preventDefault()
      form.current?.querySelector('form')?.requestSubmit()
    }
    addEventListener('beforeunload', leaving)
    addEventListener('keydown', saving)
    return () => {
      removeEventListener('beforeunload', leaving)
      removeEventListener('keydown', saving)
    }
  }, [changed, locked])

  const editText = (next: string): void => {
    setText(next)
    try {
      setDraft(draftFromText(next))
      setWrongText(null)
    } catch (error) {
      setWrongText(error instanceof Error ? error.message : String(error))
    }
  }
  const save = async (): Promise<void> => {
    if (wrongText !== null) throw new ApiError(wrongText, 400, 'text', null, null)
    const result = saved
      ? await answerOf(api.PUT('/api/virtual-models/{id}', { params: { path: { id: String(saved.id) } } as never, body: draft }))
      : await answerOf(api.POST('/api/virtual-models', { body: draft }))
    replace(draftOf(result))
    await invalidate('/api/virtual-models')
    if (saved === undefined || result.name !== saved.name) go(`/routing/${encodeURIComponent(result.name)}`, { replace: true })
  }
  return (
    <div class="columns">
      <Panel
        title={saved === undefined ? 'New' : 'Definition'}
        actions={
          <>
            {saved !== undefined && (
              <Owner managedBy={saved.managed_by} name={`virtualModels.${saved.config_key ?? saved.name}`} />
            )}
            {VIEWS.map(([as, title]) => (
              <button
                key={title}
                type="button"
                class="button plain"
                aria-pressed={asText === (as !== null)}
                onClick={() => {
                  setText(null)
                  setWrongText(null)
                  setQuery({ as })
                }}
              >
                {title}
              </button>
            ))}
            <Copy text={configText(draft)} label="Copy as config" />
          </>
        }
      >
        {saved === undefined && <AddressNote name="recipe" shown={recipe?.id} />}
        <div ref={form}>
          <ShadowNote name={draft.name} saved={saved?.name} />
          <Form
            submit={saved === undefined ? 'Create' : 'Save'}
            disabled={locked || (!changed && wrongText === null)}
            onSubmit={save}
            onCancel={changed && saved ? () => replace(base) : undefined}
          >
            {asText ? (
              <TextField
                name="text"
                covers={['*']}
                label="The virtual model as JSON"
                rows={24}
                disabled={locked}
                hint={wrongText ?? 'The form shows the same draft.'}
                value={text ?? JSON.stringify(draft, null, 2)}
                onInput={editText}
              />
            ) : (
              <DraftForm draft={draft} locked={locked} onChange={setDraft} />
            )}
            {saved !== undefined && <Changes saved={base} draft={draft} />}
          </Form>
        </div>
        {saved !== undefined && <Levers of={saved} locked={locked} />}
      </Panel>
      <div class="stack">
        <Preview draft={draft} changed={changed} />
        <Simulate draft={draft} saved={saved === undefined ? undefined : base} />
      </div>
    </div>
  )
}

const VIEWS = [
  [null, 'Form'],
  ['text', 'Text'],
] as const

function Levers({ of: model, locked }: { of: VirtualModel; locked: boolean }) {
  if (!may('manage')) return null
  const params = { path: { id: String(model.id) } } as never
  const toggle = async (): Promise<void> => {
    await answerOf(api.POST('/api/virtual-models/{id}/toggle', { params }))
    await invalidate('/api/virtual-models')
  }
  const remove = async (): Promise<void> => {
    if (!confirm(`Delete “${model.name}”? Requests that name it are then refused.`)) return
    await answerOf(api.DELETE('/api/virtual-models/{id}', { params }))
    await invalidate('/api/virtual-models')
    go('/routing')
  }
  if (locked) return null
  return (
    <div class="actions">
      <Button onClick={toggle}>{model.enabled ? 'Disable' : 'Enable'}</Button>
      <Button kind="danger" onClick={remove}>
        Delete
      </Button>
    </div>
  )
}
