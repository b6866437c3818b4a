// A request as every dialect writes it, and what each cannot say.
import type { paths } from '../../api/schema.d.ts'
import { Notice, Panel } from '../../ui/page.tsx'
import { DIALECTS } from './samples.ts'

type Translated = paths['/api/playground/translate']['post']['responses'][200]['content']['application/json']
type Encoding = Translated['targets'][number]

export function Translation({ of: { upstream, targets } }: { of: Translated }) {
  return (
    <>
      {upstream !== null && <Shown title={`Would go to ${upstream.provider}/${upstream.model}`} of={upstream} open />}
      {targets.map((target) => (
        <Shown
          key={target.dialect}
          title={DIALECTS.find(({ id }) => id === target.dialect)?.title ?? target.dialect}
          of={target}
        />
      ))}
    </>
  )
}

function Shown({
  title,
  of: { request, losses, warnings, error },
  open = false,
}: {
  title: string
  of: Encoding
  open?: boolean
}) {
  return (
    <Panel title={title}>
      {error !== null && <Notice tone="warning">{error.message}</Notice>}
      {losses.length > 0 && <p class="failure">Lost: {losses.map((loss) => loss.replace('dropped_', '')).join(', ')}</p>}
      {warnings.length > 0 && <p class="quiet">Changed: {warnings.join(', ')}</p>}
      {request !== null && (
        <details open={open}>
          <summary>
            {request.method} {request.url}
          </summary>
          <pre>{JSON.stringify(request.body, null, 2)}</pre>
        </details>
      )}
      {request === null && error === null && <p class="quiet">The provider answers without an upstream.</p>}
    </Panel>
  )
}
