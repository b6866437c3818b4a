import { describe, expect, it } from 'vitest'
import { type EnvLayers, readEnv as read } from '../../../core/config/env.ts'
import { variablesOf } from '../../../core/plugins/variables.ts'
import { preset } from '../../../plugins/preset.ts'

/** The variables of the core and of the built-in plugins, with the same rules. */
const VARIABLES = variablesOf(preset())
const readEnv = (layers: EnvLayers) => read({ variables: VARIABLES, ...layers })

const LENIENT = [
  'BUDGET_TIMEZONE',
  'CAVEMAN_LEVEL',
  'PONYTAIL_LEVEL',
  'ROUTES',
  'ERROR_RULES',
  'FINGERPRINT_VERSIONS',
  'LIMITER_REDIS_FALLBACK',
  'PAYLOAD_RULES_PATH',
]

describe('GATEWAY_* variables', () => {
  it('have the defaults of the specification', () => {
    const env = readEnv({ environment: {} })
    expect([
      env.get('PROFILE'),
      env.get('HOST'),
      env.get('PORT'),
      env.get('STREAM_HEARTBEAT_MS'),
      env.get('MAX_BODY_BYTES'),
    ]).toEqual(['local', '127.0.0.1', 8788, 15_000, 20 * 1024 * 1024])
    expect([
      env.get('UPSTREAM_CONNECT_TIMEOUT_MS'),
      env.get('UPSTREAM_IDLE_TIMEOUT_MS'),
      env.get('UPSTREAM_POOL_MAX_IDLE_PER_HOST'),
    ]).toEqual([10_000, 120_000, 32])
    expect(env.get('REQUEST_DEADLINE_MS')).toBeNull()
  })

  it('include the names the specification gives outside its table', () => {
    for (const name of ['RATE_LIMIT_RPM', 'RATE_LIMIT_BURST', 'MASTER_KEY', 'CONFIG'])
      expect(
        VARIABLES.some((variable) => variable.name === name),
        name,
      ).toBe(true)
  })

  it('are declared once each', () => {
    expect(new Set(VARIABLES.map(({ name }) => name)).size).toBe(VARIABLES.length)
  })

  it.each([
    ['PORT', 'eighty', /GATEWAY_PORT: `eighty` is not a whole number/],
    ['PORT', '70000', /at most 65535/],
    ['STREAM_HEARTBEAT_MS', '-1', /GATEWAY_STREAM_HEARTBEAT_MS/],
    ['REQUIRE_API_KEY', 'maybe', /neither true nor false/],
    ['PROFILE', 'edge', /one of local, cloud/],
    ['OUTBOUND_PROXY', 'not a url', /not a URL/],
    ['OUTBOUND_PROXY', 'ftp://user:secret@proxy', /^(?!.*secret).*must begin with one of http:\/\/, https:\/\/, socks5:\/\//],
    ['PUBLIC_URL', 'gateway:8788', /GATEWAY_PUBLIC_URL: the URL must begin with one of http/],
  ])('a bad %s stops the boot and is named', (name, value, message) => {
    expect(() => readEnv({ environment: { [`GATEWAY_${name}`]: value } })).toThrow(message)
  })

  it('names every bad variable at once', () => {
    expect(() => readEnv({ environment: { GATEWAY_PORT: 'x', GATEWAY_PROFILE: 'y' } })).toThrow(
      /GATEWAY_PROFILE[\s\S]*GATEWAY_PORT/,
    )
  })

  it('lenient ones warn and keep their default', () => {
    for (const { name } of VARIABLES.filter((variable) => variable.lenient && variable.type !== 'string')) {
      const env = readEnv({ environment: { [`GATEWAY_${name}`]: '{not valid' } })
      expect(env.warnings, name).toEqual([expect.stringContaining(`GATEWAY_${name}`)])
      expect(env.get(name)).toEqual(readEnv({ environment: {} }).get(name))
    }
    for (const name of LENIENT) expect(VARIABLES.find((variable) => variable.name === name)?.lenient, name).toBe(true)
    for (const variable of VARIABLES.filter(({ name }) => name.startsWith('SEMANTIC_CACHE_')))
      expect(variable.lenient, variable.name).toBe(true)
  })

  it('never print a secret', () => {
    const secret = VARIABLES.filter(({ type }) => type === 'secret').map(({ name }) => name)
    expect(secret).toEqual(expect.arrayContaining(['MASTER_KEY', 'JWT_SECRET', 'IDP_CLIENT_SECRET']))
  })

  it('DATABASE_URL and REDIS_URL fall back to their bare names, below the prefixed ones', () => {
    expect(readEnv({ environment: { DATABASE_URL: 'postgres://a/b' } }).get('DATABASE_URL')).toBe('postgres://a/b')
    expect(
      readEnv({ environment: { DATABASE_URL: 'postgres://a/b', GATEWAY_DATABASE_URL: 'postgres://c/d' } }).get('DATABASE_URL'),
    ).toBe('postgres://c/d')
    expect(readEnv({ environment: { REDIS_URL: 'redis://a' } }).get('REDIS_URL')).toBe('redis://a')
  })

  it('set to nothing differs from not set where that means something', () => {
    expect(readEnv({ environment: {} }).get('THINK_TAG_MODELS')).toContain('*deepseek-r1*')
    expect(readEnv({ environment: {} }).isSet('THINK_TAG_MODELS')).toBe(false)
    expect(readEnv({ environment: { GATEWAY_THINK_TAG_MODELS: '' } }).get('THINK_TAG_MODELS')).toEqual([])
    expect(readEnv({ environment: { GATEWAY_PORT: '' } }).get('PORT')).toBe(8788)
  })

  it('set to nothing hides neither the bare name nor what the file says', () => {
    const environment = { GATEWAY_DATABASE_URL: '', DATABASE_URL: 'postgres://a/b', GATEWAY_PORT: ' ', REDIS_URL: '' }
    const env = readEnv({ environment, options: { port: 1, redisUrl: 'redis://a' }, flags: { HOST: '' } })
    expect([env.get('DATABASE_URL'), env.get('PORT'), env.get('REDIS_URL')]).toEqual(['postgres://a/b', 1, 'redis://a'])
    expect(env.isSet('HOST')).toBe(false)
    const tags = readEnv({ environment: { GATEWAY_THINK_TAG_MODELS: '' }, options: { thinkTagModels: 'a*' } })
    expect(tags.get('THINK_TAG_MODELS')).toEqual([])
  })

  it('what is wrong is named where it stands', () => {
    const options = { streamHeartbeatMs: 'soon', limiterRedisFallback: 'maybe' }
    expect(() => readEnv({ environment: {}, options })).toThrow(/^options\.streamHeartbeatMs: `soon` is not/)
    const env = readEnv({ environment: { GATEWAY_STREAM_HEARTBEAT_MS: '1' }, options })
    expect(env.warnings).toEqual([expect.stringMatching(/^options\.limiterRedisFallback: `maybe` is not one of/)])
  })

  it('flag beats environment beats file beats default, and the source is kept', () => {
    const layers = { environment: { GATEWAY_PORT: '2' }, options: { port: 1, streamHeartbeatMs: 5 }, flags: { PORT: '3' } }
    const source = (name: string, env = readEnv(layers)) => env.all().find(({ variable }) => variable.name === name)?.source
    expect([readEnv(layers).get('PORT'), source('PORT')]).toEqual([3, 'flag'])
    expect(readEnv({ ...layers, flags: {} }).get('PORT')).toBe(2)
    expect([readEnv(layers).get('STREAM_HEARTBEAT_MS'), source('STREAM_HEARTBEAT_MS')]).toEqual([5, 'config'])
    expect(source('HOST')).toBe('default')
  })

  it('an option of the file that is no variable is refused by name', () => {
    expect(() => readEnv({ environment: {}, options: { streamHeartbeat: 1 } })).toThrow(/options\.streamHeartbeat/)
  })
})
