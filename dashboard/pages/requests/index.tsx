import type { PageProps } from '../../app/frame/pages.ts'
import { go, href } from '../../app/location.ts'
import { useKeys } from '../../app/palette/keys.tsx'
import { Page } from '../../ui/page.tsx'
import { RequestList } from './list.tsx'
import { neighbourOf } from './neighbours.ts'
import { RequestDetails } from './request-details.tsx'

export default function Requests({ rest }: PageProps) {
  return rest === '' ? <RequestList /> : <OneRequest id={rest} />
}

function OneRequest({ id }: { id: string }) {
  const [before, after] = [neighbourOf(id, -1), neighbourOf(id, 1)]
  const open = (to: string | undefined): void => {
    if (to !== undefined) go(`/requests/${to}`)
  }
  useKeys([
    { keys: '[', what: 'Request before', run: () => open(before) },
    { keys: ']', what: 'Next request', run: () => open(after) },
  ])
  return (
    <Page
      title="Request"
      actions={
        <>
          {before !== undefined && (
            <a class="button" href={href(`/requests/${before}`)} title="[">
              ‹ Newer
            </a>
          )}
          {after !== undefined && (
            <a class="button" href={href(`/requests/${after}`)} title="]">
              Older ›
            </a>
          )}
          <a class="button" href={href('/requests')}>
            All requests
          </a>
        </>
      }
    >
      <section class="panel request-page">
        <RequestDetails key={id} id={id} />
      </section>
    </Page>
  )
}
