// A data-plane route: `GET /v1/whoami` returns the client key and its permissions.
import { definePlugin, encodeUtf8 } from 'hookgate'

export const whoamiRoute = definePlugin({
  name: 'whoami-route',
  setup(gateway) {
    gateway.data({
      method: 'GET',
      path: '/v1/whoami',
      operation: 'models',
      models: 'none',
      scope: 'none',
      keyRequired: true,
      summary: 'The caller’s key.',
      handler({ principal }) {
        const body = { label: principal.label, organization: principal.orgId, models: principal.allowedModels ?? 'all' }
        return {
          kind: 'raw',
          status: 200,
          headers: ['content-type', 'application/json'],
          body: encodeUtf8(JSON.stringify(body)),
        }
      },
    })
  },
})
