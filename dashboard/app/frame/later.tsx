// A part of the shell that is loaded when it is first shown.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** @param load must be the same function at every call */
export function Later<P extends object>({ load, props }: { load: () => Promise<{ default: ComponentType<P> }>; props: P }) {
  const [part, setPart] = useState<{ View: ComponentType<P> } | null>(null)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    load().then(
      (module) => setPart({ View: module.default }),
      () => setFailed(true),
    )
  }, [load])
  if (failed)
    return (
      <p class="failure" role="alert">
        This part could not be loaded. Reload the window.
      </p>
    )
  return part === null ? <p aria-busy="true" /> : <part.View {...props} />
}
