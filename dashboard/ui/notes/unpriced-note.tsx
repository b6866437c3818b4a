import { count } from '../../app/format.ts'
import { href } from '../../app/location.ts'

/** Says that a cost does not contain every call. Nothing without such calls. */
export function UnpricedNote({ calls }: { calls: number }) {
  if (calls === 0) return null
  return (
    <p class="unpriced">
      {count(calls)} {calls === 1 ? 'request has' : 'requests have'} no known price: not in the cost.{' '}
      <a href={href('/spend?tab=prices')}>Set a price</a>
    </p>
  )
}
