// GET /v1/responses: says whether the caller may open a WebSocket there. A host that can turn the exchange into one does so after 101.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'

export const responsesSocket = definePlugin({
  name: 'responses-socket',
  setup(gateway) {
    gateway.data({
      method: 'GET',
      path: '/v1/responses',
      operation: 'responses',
      models: 'none',
      scope: 'none',
      documented: false,
      summary: 'Opens a WebSocket: each `response.create` message is one request, each event of its stream one message.',
      handler({ ingress, headers }) {
        if (ingress?.upgradable === true) return { kind: 'raw', status: 101, headers: [], body: null }
        if (headers.get('upgrade')?.toLowerCase() !== 'websocket') throw GatewayError.methodNotAllowed('GET', 'POST')
        throw new GatewayError('This connection cannot become a WebSocket; use HTTP POST with a streamed answer.', {
          status: 426,
          type: 'invalid_request_error',
          code: 'websocket_not_supported',
          headers: ['upgrade', 'HTTP/1.1'],
        })
      },
    })
  },
})

export default responsesSocket
