// A plugin next to the configuration: one log line per finished request. Change and save this file or the configuration: the running
// gateway sets up the new plugin and tears down the old one.
import { definePlugin } from 'hookgate'
import { z } from 'zod'

// The type of the setting in `settings` of gateway.config.ts.
declare module 'hookgate/core' {
  interface ConfigSettings {
    'audit_trail.failures_only': boolean
  }
}

export const auditTrail = definePlugin({
  name: 'audit-trail',
  config: z.object({ team: z.string() }),
  // A setting may be changed at run time, unless the file pins it.
  settings: { 'audit_trail.failures_only': z.boolean().default(false) },
  setup(gateway, { team }) {
    gateway.hook('settled', (ctx, { status, usage }) => {
      if (gateway.settings.get('audit_trail.failures_only') && status < 400) return
      gateway.log.info('audit', { team, request: ctx.id, model: ctx.requestedModel, status, tokens: usage.total })
    })
  },
})
