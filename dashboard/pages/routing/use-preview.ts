// Asks for the preview of a draft shortly after it changed, and every few seconds while the page is visible.
import { useEffect, useState } from 'preact/hooks'
import { answerOf, api } from '../../api/client.ts'
import { ApiError } from '../../api/error.ts'
import { gatewayTime } from '../../api/gateway-time.ts'
import type { Loaded } from '../../api/query.ts'
import type { paths } from '../../api/schema.d.ts'
import type { Previewed } from './preview-order.tsx'

type Body = NonNullable<paths['/api/virtual-models/preview']['post']['requestBody']>['content']['application/json']

const TYPING_MS = 300
const LOOK_MS = 5000

export function usePreview(body: Body): Loaded<Previewed> {
  const [state, setState] = useState<Loaded<Previewed>>({ data: undefined, error: null, at: 0, loading: true })
  const key = JSON.stringify(body)
  useEffect(() => {
    let current = true
    const look = async (): Promise<void> => {
      if (body.targets.length === 0 || document.visibilityState === 'hidden') return
      try {
        const data = await answerOf(api.POST('/api/virtual-models/preview', { body }))
        if (current) setState({ data, error: null, at: gatewayTime(), loading: false })
      } catch (error) {
        if (current) setState((before) => ({ ...before, error: ApiError.unreachable(error), loading: false }))
      }
    }
    const first = setTimeout(look, TYPING_MS)
    const next = setInterval(look, LOOK_MS)
    return () => {
      current = false
      clearTimeout(first)
      clearInterval(next)
    }
  }, [key])
  return state
}
