// The setting `cors.origins`: web pages of these origins may call the data plane from a browser.
// The control plane stays closed to other origins.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'

/** An origin as a browser sends it: lower case, scheme and host, a non-default port, no path. */
const ORIGIN = /^[a-z][a-z0-9+.-]{0,31}:\/\/[a-z0-9._:[\]-]{1,255}$/

export const cors = definePlugin({
  name: 'cors',
  settings: {
    /** Exact origins, or `*` for all; none = off. */
    'cors.origins': z
      .array(
        z.union([z.literal('*'), z.string().regex(ORIGIN)], {
          error: 'must be `*` or an origin like `https://app.example.com`, without a path',
        }),
      )
      .max(1000)
      .default([]),
  },
  variables: {
    CORS_ORIGINS: {
      setting: 'cors.origins',
      about: 'Origins whose web pages may call /v1/* and /v1beta/* from a browser; `*` for all.',
    },
  },
  setup(gateway) {
    const layer = gateway.use('crossOrigin').layer()
    layer.set(gateway.settings.get('cors.origins'))
    gateway.settings.watch('cors.origins', (origins) => layer.set(origins))
    return () => layer.end()
  },
})

export default cors
