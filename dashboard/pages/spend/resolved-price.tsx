// The price of a model as the gateway uses it now, and where it comes from.
import type { Got } from '../../api/query.ts'
import { money, percent, UNKNOWN } from '../../app/format.ts'
import { Facts, Notice } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Ago } from '../../ui/text.tsx'

const SOURCES: Readonly<Record<string, string>> = {
  override: 'your own price',
  primary: 'the price list',
  fallback: 'the second price list',
  builtin: 'the gateway’s own list',
  none: 'unknown',
}

export function ResolvedPrice({ of: answer }: { of: Got<'/api/pricing/resolve'> }) {
  if (!('source' in answer)) return null
  const { model, prices, source, matched_key, fetched_at, stale_since, drift } = answer
  if (source === 'none' || prices === null)
    return <Notice tone="warning">No price is known for “{model}”: its requests are not in any cost.</Notice>
  const figures = Object.entries(prices).flatMap(([name, value]) =>
    typeof value === 'number' ? [[nameOf(name), money(value)] as const] : [],
  )
  return (
    <>
      <Facts
        facts={[
          ...figures,
          ['Source', SOURCES[source] ?? source],
          ['Entry', matched_key ?? UNKNOWN],
          ['Fetched', <Ago key="fetched" at={fetched_at} />],
        ]}
      />
      {stale_since !== null && (
        <p>
          <Status tone="waiting">old</Status> <Ago at={stale_since} />
        </p>
      )}
      {drift !== null && (
        <p>
          <Status tone="waiting">moved by {percent(drift.pct / 100)}</Status> <span class="quiet">see the review above</span>
        </p>
      )}
    </>
  )
}

/** `cache_read` is `Cache read, per 1M tokens`; `per_image_usd` is `Per image`. */
function nameOf(member: string): string {
  const words = member.replace(/_usd$/, '').replaceAll('_', ' ')
  const title = words.charAt(0).toUpperCase() + words.slice(1)
  return member.startsWith('per_') ? title : `${title}, per 1M tokens`
}
