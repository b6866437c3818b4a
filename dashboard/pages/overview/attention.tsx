// Problems that need attention: each with its effect and the actions that help.
import { useGet } from '../../api/query.ts'
import { href } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Loading, Panel } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Ago } from '../../ui/text.tsx'
import { Pull } from './lever.tsx'
import { Sentence } from './sentence.tsx'

const LOOK_MS = 15_000

export function Attention() {
  const attention = useGet('/api/attention', {}, LOOK_MS)
  return (
    <Loading of={attention}>
      {({ data }) =>
        data.length === 0 ? (
          <p class="all-well">
            <Status tone="ok">Nothing needs attention.</Status>
          </p>
        ) : (
          <Panel title={`Attention: ${data.length}`}>
            <ul class="attention">
              {data.map((item) => (
                <li key={item.id} class={item.severity}>
                  <div>
                    <p>
                      <Status tone={item.severity === 'critical' ? 'failed' : 'waiting'}>
                        <strong>
                          <Sentence text={item.title} />
                        </strong>
                      </Status>{' '}
                      {item.since !== null && (
                        <span class="quiet">
                          <Ago at={item.since} />
                        </span>
                      )}
                    </p>
                    {item.effect !== null && (
                      <p class="quiet">
                        <Sentence text={item.effect} />
                      </p>
                    )}
                  </div>
                  <div class="actions">
                    {may('manage') && item.levers.map((lever) => <Pull key={lever.label} lever={lever} of={item} />)}
                    {item.link !== null && (
                      <a class="button" href={href(item.link)}>
                        Open
                      </a>
                    )}
                  </div>
                </li>
              ))}
            </ul>
          </Panel>
        )
      }
    </Loading>
  )
}
