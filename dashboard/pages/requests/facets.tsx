// Values to filter by, from the newest requests of the log. Each one adds its pair to the filter or takes it out.
import { useGet } from '../../api/query.ts'
import { Menu } from '../../ui/menu.tsx'
import { has, toggled } from './filter.ts'

/** More values than a menu can show are found by typing. */
const SHOWN = 30

export function FacetsMenu({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const facets = useGet('/api/logs/facets')
  const groups: readonly (readonly [title: string, name: string, values: readonly string[]])[] = [
    ['Status', 'status', ['2xx', '4xx', '429', '5xx']],
    ['Provider', 'provider', facets.data?.providers ?? []],
    ['Model', 'model', facets.data?.models ?? []],
    ['Source', 'source', facets.data?.sources ?? []],
    ['From the cache', 'cached', ['true', 'false']],
  ]
  return (
    <Menu title="Filter by ▾" side="start">
      {groups.map(
        ([title, name, values]) =>
          values.length > 0 && (
            <fieldset key={name} class="checks">
              <legend>{title}</legend>
              {values.slice(0, SHOWN).map((value) => (
                <label key={value}>
                  <input type="checkbox" checked={has(text, name, value)} onChange={() => onChange(toggled(text, name, value))} />{' '}
                  <span>{value}</span>
                </label>
              ))}
              {values.length > SHOWN && <p class="quiet">and {values.length - SHOWN} more: type them</p>}
            </fieldset>
          ),
      )}
      <p class="quiet">Values of the newest 5,000 requests.</p>
    </Menu>
  )
}
