import { useGet } from '../../api/query.ts'
import type { PageProps } from '../../app/frame/pages.ts'
import { go, href } from '../../app/location.ts'
import { may } from '../../app/session/me.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Loading, Notice, Page } from '../../ui/page.tsx'
import { Editor } from './editor.tsx'
import { ModelList } from './model-list.tsx'
import { ModelsCompared } from './models-compared.tsx'
import { NamedRoutes } from './named-routes.tsx'
import { NEW, RECIPES } from './recipes.ts'

export default function Routing({ rest }: PageProps) {
  return rest === '' ? <VirtualModels /> : <VirtualModel name={rest} />
}

function VirtualModels() {
  const models = useGet('/api/virtual-models')
  return (
    <Page
      title="Routing"
      actions={
        may('manage') && (
          <Button kind="primary" onClick={() => go(`/routing/${NEW}`)}>
            New virtual model
          </Button>
        )
      }
    >
      <Loading of={models}>{({ data }) => (data.length === 0 ? <FirstModel /> : <ModelList of={data} />)}</Loading>
      <NamedRoutes />
      <ModelsCompared />
    </Page>
  )
}

function FirstModel() {
  return (
    <section class="panel">
      <Empty title="No virtual model yet">
        <p>A virtual model is a name of your own for one or more models. The gateway selects among them for each request.</p>
        <div class="recipes">
          {RECIPES.map(({ id, title, about }) => (
            <a key={id} class="recipe" href={href(`/routing/${NEW}?recipe=${id}`)}>
              <strong>{title}</strong>
              <span>{about}</span>
            </a>
          ))}
        </div>
      </Empty>
    </section>
  )
}

function VirtualModel({ name }: { name: string }) {
  const models = useGet('/api/virtual-models')
  return (
    <Page title={name === NEW ? 'New virtual model' : name} actions={<a href={href('/routing')}>All virtual models</a>}>
      <Loading of={models}>
        {({ data }) => {
          const found = data.find((model) => model.name === name)
          if (found === undefined && name !== NEW)
            return (
              <Notice tone="warning">
                There is no virtual model “{name}”. <a href={href('/routing')}>See all</a>.
              </Notice>
            )
          return <Editor key={found?.id ?? NEW} saved={found} />
        }}
      </Loading>
    </Page>
  )
}
