// A plugin's own page, in a frame without an origin: no storage, no session, no network.
import { useEffect, useRef, useState } from 'preact/hooks'
import { serveFrame } from '../../api/frame-port.ts'
import type { Got } from '../../api/query.ts'
import { mount } from '../../app/mount.ts'
import { preferences } from '../../app/preferences.ts'
import { Notice, Panel } from '../page.tsx'

type DeclaredPage = Got<'/api/plugins'>['data'][number]['pages'][number]

/** False where the gateway does not serve plugins' pages. */
export const pluginPages = document.querySelector<HTMLMetaElement>('meta[name="hookgate-plugin-pages"]')?.content !== 'false'

export function PluginFrame({ plugin, page }: { plugin: string; page: DeclaredPage }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, setHeight] = useState(400)
  const [title, setTitle] = useState('')
  const [closed, setClosed] = useState<string | null>(null)
  const theme = shownTheme()
  const port = useRef<MessagePort | null>(null)
  const served = useRef<{ close(): void } | null>(null)

  /** The page gets its port once. A second load is another document, which must not get what this one was given. */
  const greet = (): void => {
    if (served.current !== null) {
      served.current.close()
      return setClosed('it went to another address')
    }
    const { port1, port2 } = new MessageChannel()
    port.current = port1
    served.current = serveFrame(port1, page.routes, {
      height: setHeight,
      title: setTitle,
      closed: (why) => why !== '' && setClosed(why),
    })
    // The frame has no origin that could be named here.
    frame.current?.contentWindow?.postMessage({ hookgate: 1, theme }, '*', [port2])
  }
  useEffect(() => () => served.current?.close(), [])
  useEffect(() => {
    port.current?.postMessage({ theme })
  }, [theme])

  return (
    <Panel title={title === '' ? page.title : `${page.title}: ${title}`} actions={<span class="quiet">{plugin}</span>}>
      {closed === null ? (
        <iframe
          ref={frame}
          class="plugin-frame"
          title={`${page.title}, a page of the plugin ${plugin}`}
          sandbox="allow-scripts"
          referrerpolicy="no-referrer"
          height={height}
          src={`${mount}/plugin-pages/${encodeURIComponent(plugin)}/${encodeURIComponent(page.id)}/index.html`}
          onLoad={greet}
        />
      ) : (
        <Notice tone="warning">The page was closed: {closed}. Reload the window to open it again.</Notice>
      )}
    </Panel>
  )
}

function shownTheme(): 'light' | 'dark' {
  const { theme } = preferences.value
  if (theme !== 'system') return theme
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}
