// A warning while a name is typed that is also the id of a model.
import { useGet } from '../../api/query.ts'
import { Notice } from '../../ui/page.tsx'

/** @param saved name of the model that is edited: the list of models has it, too */
export function ShadowNote({ name, saved }: { name: string; saved: string | undefined }) {
  const catalog = useGet(name === '' ? null : '/api/model-catalog', { query: { q: bareOf(name) } })
  // A caller may name a model without its provider.
  const hidden = (catalog.data?.data ?? []).find(({ model }) => model === name || bareOf(model) === name)
  if (name === '' || hidden === undefined) return null
  return (
    <Notice tone="warning">
      The name “{name}” is also the id of a model ({hidden.model}):{' '}
      {saved === name ? 'the virtual model hides it.' : 'the virtual model will hide it.'}
    </Notice>
  )
}

/** The catalog searches model ids without their provider. */
function bareOf(name: string): string {
  return name.slice(name.indexOf('/') + 1)
}
