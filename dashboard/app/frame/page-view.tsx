// Shows the page of the address. A page that fails is replaced by its error, the shell stays.
import { Component, type ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { Notice, Page } from '../../ui/page.tsx'
import { href, path } from '../location.ts'
import { type PageEntry, type PageProps, pageOf } from './pages.ts'

const loaded = new Map<string, ComponentType<PageProps>>()

export function PageView() {
  const found = pageOf(path.value)
  if (found === undefined)
    return (
      <Page title="No such page">
        <Notice tone="warning">
          There is no page <code>{path.value}</code>. <a href={href('/')}>Go to the overview</a>.
        </Notice>
      </Page>
    )
  return (
    <Guard key={found.page.id}>
      <LoadedPage page={found.page} rest={found.rest} />
    </Guard>
  )
}

function LoadedPage({ page, rest }: { page: PageEntry; rest: string }) {
  const [, setReady] = useState(0)
  const View = loaded.get(page.id)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    if (loaded.has(page.id)) return
    page.load().then(
      (module) => {
        loaded.set(page.id, module.default)
        setReady((count) => count + 1)
      },
      () => reloadOnce() || setFailed(true),
    )
  }, [page])
  if (failed)
    return (
      <Page title={page.title}>
        <Notice tone="error">This page could not be loaded. Reload the window.</Notice>
      </Page>
    )
  if (View === undefined) return <main id="main" class="page" aria-busy="true" />
  return <View rest={rest} />
}

/** After an update of the gateway the files of this page are gone. One reload brings the new ones; two would be a loop. */
function reloadOnce(): boolean {
  const key = 'reloaded'
  if (history.state?.[key] === true) return false
  history.replaceState({ [key]: true }, '')
  location.reload()
  return true
}

class Guard extends Component<{ children: preact.ComponentChildren }, { error: unknown }> {
  override state = { error: null }

  static override getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === null) return this.props.children
    return (
      <Page title="Something went wrong">
        <Notice tone="error">
          This page failed: {String(this.state.error)} <Button onClick={() => this.setState({ error: null })}>Try again</Button>
        </Notice>
      </Page>
    )
  }
}
