// The filter box and the menus above the list.

import { FILTER_WORDS } from '../../../core/text/log-filter.ts'
import { shortTime } from '../../app/clock.ts'
import { ColumnsMenu } from './columns.tsx'
import { ExportMenu } from './export-menu.tsx'
import { FacetsMenu } from './facets.tsx'
import { pick, type Range } from './range.ts'

interface ToolbarProps {
  text: string
  wrong: boolean
  onText: (text: string) => void
  range: Range
  /** Of the log, with the range. */
  query: Readonly<Record<string, string>>
}

export function Toolbar({ text, wrong, onText, range, query }: ToolbarProps) {
  return (
    <div class="filter request-filter">
      <input
        type="search"
        class="filter-input"
        data-filter
        aria-label="Filter"
        aria-invalid={wrong}
        placeholder="status:5xx model:gpt-4o"
        title={`Filters: ${FILTER_WORDS.join(', ')}; other words search ids and error messages`}
        spellcheck={false}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <div class="filter-menus">
        <FacetsMenu text={text} onChange={onText} />
        <select aria-label="Range" value={range.name} onChange={(event) => pick(event.currentTarget.value)}>
          <option value="1h">last hour</option>
          <option value="24h">last 24 hours</option>
          <option value="7d">last 7 days</option>
          <option value="all">all</option>
          {range.name === 'custom' && (
            <option value="custom">
              {range.since === null ? 'the beginning' : shortTime(range.since)} to{' '}
              {range.until === null ? 'now' : shortTime(range.until)}
            </option>
          )}
        </select>
        <ColumnsMenu />
        <ExportMenu query={query} />
      </div>
    </div>
  )
}
