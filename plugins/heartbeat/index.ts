// Sets the heartbeat of quiet streams at run time: `stream_heartbeat_ms` sets the interval, `heartbeat.generate_content` the form.
// Without this plugin GATEWAY_STREAM_HEARTBEAT_MS sets the interval, and the form is `auto`.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'

export const heartbeat = definePlugin({
  name: 'heartbeat',
  settings: {
    /** ms; 0 = none. Applies to open streams too. */
    stream_heartbeat_ms: z.int().min(0).max(86_400_000).default(15_000).meta({ env: 'STREAM_HEARTBEAT_MS' }),
    /** The parsers of Google's own clients fail at a comment, so `auto` sends them an empty candidate frame. */
    'heartbeat.generate_content': z.enum(['auto', 'frame', 'comment', 'off']).default('auto'),
  },
  variables: {
    HEARTBEAT_GENERATE_CONTENT: {
      setting: 'heartbeat.generate_content',
      about: 'Form of the heartbeat in generate-content streams; auto: chosen by client.',
    },
  },
  setup({ use, settings }) {
    const layer = use('heartbeat').layer()
    layer.set(settings.get('stream_heartbeat_ms'))
    settings.watch('stream_heartbeat_ms', (ms) => layer.set(ms))
    layer.form('generate_content', settings.get('heartbeat.generate_content'))
    settings.watch('heartbeat.generate_content', (form) => layer.form('generate_content', form))
    return () => layer.end()
  },
})

export default heartbeat
