import { useGet } from '../../api/query.ts'
import { ms } from '../../app/format.ts'
import { Facts, Loading, Panel } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Ago } from '../../ui/text.tsx'

export function Health() {
  const health = useGet('/healthz', {}, 15_000)
  return (
    <Loading of={health}>
      {({ status, profile, version, database, shared_store, pricing }) => (
        <Panel title="Health">
          <Facts
            facts={[
              [
                'Gateway',
                <Status key="gateway" tone={status === 'ok' ? 'ok' : 'waiting'}>
                  {status}
                </Status>,
              ],
              ['Version', version],
              ['Profile', profile],
              [
                'Database',
                database === 'none' ? (
                  'none'
                ) : (
                  <Status key="database" tone={database.ok ? 'ok' : 'failed'}>
                    {database.kind}, {ms(database.latency_ms)}
                  </Status>
                ),
              ],
              [
                'Shared store',
                'ok' in shared_store ? (
                  <Status key="store" tone={shared_store.ok ? 'ok' : 'failed'}>
                    {shared_store.mode}, {ms(shared_store.latency_ms)}
                  </Status>
                ) : (
                  'none: one process'
                ),
              ],
              [
                'Prices',
                pricing === undefined ? (
                  'built in, not fetched'
                ) : (
                  <Status key="prices" tone={pricing.ok ? 'ok' : 'waiting'}>
                    {pricing.ok ? 'up to date' : 'the last fetch failed'}
                    {pricing.last_success_at !== null && (
                      <>
                        , fetched <Ago at={pricing.last_success_at} />
                      </>
                    )}
                  </Status>
                ),
              ],
            ]}
          />
        </Panel>
      )}
    </Loading>
  )
}
