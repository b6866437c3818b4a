import { href } from '../../app/location.ts'
import { Notice } from '../page.tsx'

/** Says that the usage figures below do not count every request of the window. */
export function TruncatedNotice() {
  return (
    <Notice tone="warning">
      There are more requests than this view counts. Exact sums: <a href={href('/spend?tab=reports')}>Reports</a>.
    </Notice>
  )
}
