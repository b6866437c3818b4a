// The types of gateway.config.ts. `npm run typecheck` checks this file: each line below `@ts-expect-error` must be an error.
import { type ConfigOptions, type ConfigSettings, defineConfig, type ProviderId, pin, preset } from 'hookgate'

declare module 'hookgate/core' {
  interface ConfigSettings {
    'weather.units': 'metric' | 'imperial'
  }
  interface ConfigOptions {
    weatherUrl: string
  }
  interface ConfigProviders {
    weatherbrain: true
  }
}

export const whole = defineConfig({
  profile: 'local',
  plugins: [...preset(), 'hookgate-plugin-weather', { plugin: './weather.ts', options: { city: 'Oslo' } }],
  connections: { openai: { provider: 'openai' }, lab: { provider: 'custom' }, own: { provider: 'any-id', wireFormat: 'chat' } },
  settings: {
    'breaker.cooldown_secs': 5,
    'weather.units': pin('metric'),
    'routing.account_rotation': 'round_robin',
    breaker: { failure_threshold: pin(3) },
  },
  options: { streamHeartbeatMs: 5000, requireApiKey: true, weatherUrl: 'https://example.com', limiterRedisFallback: 'local' },
})

// @ts-expect-error a number, not a text
defineConfig({ options: { streamHeartbeatMs: 'soon' } })
// @ts-expect-error no such option
defineConfig({ options: { streamHeartbeat: 5000 } })
// @ts-expect-error not one of the choices
defineConfig({ options: { limiterRedisFallback: 'open' } })
// @ts-expect-error an option of a plugin: a number
defineConfig({ options: { liveEventBuffer: '64' } })
// @ts-expect-error no such setting
defineConfig({ settings: { 'breaker.cooldown': 5 } })
// @ts-expect-error no such setting, nested
defineConfig({ settings: { breaker: { cooldown: 5 } } })
// @ts-expect-error a number, not a text
defineConfig({ settings: { 'breaker.cooldown_secs': '5' } })
// @ts-expect-error a number, nested
defineConfig({ settings: { breaker: { cooldown_secs: '5' } } })
// @ts-expect-error a pinned value has the type of the setting
defineConfig({ settings: { 'weather.units': pin('kelvin') } })
// @ts-expect-error not a dialect
defineConfig({ connections: { lab: { provider: 'custom', wireFormat: 'soap' } } })
// @ts-expect-error not a text
defineConfig({ connections: { lab: { provider: 7 } } })
// @ts-expect-error the plugin's own name is missing
defineConfig({ plugins: [{ options: {} }] })
// @ts-expect-error an option of the token saver that does not exist
preset({ tokenSaver: { colour: 'red' } })

/** Editors complete the ids of the registry, and those that a plugin adds. */
type Completed = Extract<ProviderId, 'openai' | 'anthropic' | 'weatherbrain' | 'custom'>
export const ids: Record<Completed, true> = { openai: true, anthropic: true, weatherbrain: true, custom: true }
// @ts-expect-error `anthropic` and the others are missing
export const few: Record<Completed, true> = { openai: true }

export const port: ConfigOptions['port'] = 8788
export const ttl: ConfigSettings['exact_cache.ttl_ms'] = 0
