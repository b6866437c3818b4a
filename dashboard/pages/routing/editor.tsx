// Edits one virtual model, as a form or as text, beside a preview of the order that requests take now.
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { invalidate } from '../../api/query.ts'
import { query as address, go, setQuery } from '../../app/location.ts'
import { may } from '../../app/me.ts'
import { AddressNote } from '../../ui/address-note.tsx'
import { Button, Copy } from '../../ui/button.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { Notice, Panel } from '../../ui/page.tsx'
import { Owner } from '../../ui/status.tsx'
import { configText, type Draft, draftOf, emptyDraft, sameDraft, type VirtualModel } from './draft.ts'
import { DraftForm } from './draft-form.tsx'
import { Preview } from './preview.tsx'
import { RECIPES } from './recipes.ts'
import { Simulate } from './simulate.tsx'

export function Editor({ saved }: { saved: VirtualModel | undefined }) {
  const recipe = RECIPES.find(({ id }) => id === address.value.get('recipe'))
  const initial = saved ? draftOf(saved) : emptyDraft(recipe?.draft)
  const [draft, setDraft] = useState<Draft>(initial)
  const [text, setText] = useState<string | null>(null)
  const [wrongText, setWrongText] = useState<string | null>(null)
  const [warning, setWarning] = useState<string | null>(null)
  const locked = saved?.managed_by === 'config' || !may('manage')
  const changed = saved === undefined || !sameDraft(draft, initial)
  const asText = address.value.get('as') === 'text'

  useEffect(() => {
    const leaving = (event: BeforeUnloadEvent): void => {
      if (changed && saved !== undefined) event.preventDefault()
    }
    addEventListener('beforeunload', leaving)
    return () => removeEventListener('beforeunload', leaving)
  }, [changed])

  const editText = (next: string): void => {
    setText(next)
    try {
      setDraft(JSON.parse(next) as Draft)
      setWrongText(null)
    } catch (error) {
      setWrongText(String(error))
    }
  }
  const save = async (): Promise<void> => {
    const result = saved
      ? await answerOf(api.PUT('/api/virtual-models/{id}', { params: { path: { id: String(saved.id) } } as never, body: draft }))
      : await answerOf(api.POST('/api/virtual-models', { body: draft }))
    const warned = (result as { warning?: { model: string } }).warning
    setWarning(warned === undefined ? null : `The name is also the id of a model (${warned.model}): the virtual model is used.`)
    await invalidate('/api/virtual-models')
    if (saved === undefined || result.name !== saved.name) go(`/routing/${encodeURIComponent(result.name)}`, { replace: true })
  }
  return (
    <div class="columns">
      <Panel
        title={saved === undefined ? 'New' : 'Definition'}
        actions={
          <>
            {saved !== undefined && <Owner managedBy={saved.managed_by} name={`virtualModels.${saved.name}`} />}
            <button
              type="button"
              class="button plain"
              aria-pressed={asText}
              onClick={() => {
                setText(null)
                setWrongText(null)
                setQuery({ as: asText ? null : 'text' })
              }}
            >
              {asText ? 'Form' : 'Text'}
            </button>
            <Copy text={configText(draft)} label="Copy as config" />
          </>
        }
      >
        {saved === undefined && <AddressNote name="recipe" shown={recipe?.id} />}
        {warning !== null && <Notice tone="warning">{warning}</Notice>}
        <Form
          submit={saved === undefined ? 'Create' : 'Save'}
          disabled={locked || !changed || wrongText !== null}
          onSubmit={save}
          onCancel={changed && saved ? () => (setDraft(initial), setText(null)) : undefined}
        >
          {asText ? (
            <TextField
              name="text"
              label="The virtual model as JSON"
              rows={24}
              disabled={locked}
              hint={wrongText ?? undefined}
              value={text ?? JSON.stringify(draft, null, 2)}
              onInput={editText}
            />
          ) : (
            <DraftForm draft={draft} locked={locked} onChange={setDraft} />
          )}
          {changed && saved !== undefined && <p class="hint">The draft differs from what is saved.</p>}
        </Form>
        {saved !== undefined && <Levers of={saved} locked={locked} />}
      </Panel>
      <div class="stack">
        <Preview draft={draft} changed={changed} />
        <Simulate draft={draft} />
      </div>
    </div>
  )
}

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
