// The setting `stream_heartbeat_ms` (SPEC "Streaming", CONTRACTS 0.4): how often a quiet stream says that it lives, while the
// gateway runs. Without this plugin GATEWAY_STREAM_HEARTBEAT_MS alone decides.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'

export const heartbeat = definePlugin({
  name: 'heartbeat',
  settings: {
    /** Ms; 0 = none. Streams that are open follow. */
    stream_heartbeat_ms: z.int().min(0).max(86_400_000).default(15_000).meta({ env: 'STREAM_HEARTBEAT_MS' }),
  },
  setup(gateway) {
    const layer = gateway.use('heartbeat').layer()
    layer.set(gateway.settings.get('stream_heartbeat_ms'))
    gateway.settings.watch('stream_heartbeat_ms', (ms) => layer.set(ms))
    return () => layer.end()
  },
})

export default heartbeat
