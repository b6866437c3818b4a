// Lua for the token bucket of core/counters/memory.ts, on a Redis hash {level, at}.
import { NOW } from './now.ts'

/** ARGV now, per minute, burst, cost → ms to wait, 0 = granted. */
export const TAKE_TOKENS = `${NOW}
local perMinute, burst, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local minute = 60000
local stored = redis.call('HMGET', KEYS[1], 'level', 'at')
local at = tonumber(stored[2]) or now
local level = math.min(burst * minute, (tonumber(stored[1]) or burst * minute) + math.max(0, now - at) * perMinute)
local missing = math.min(math.max(cost, 1), burst) * minute - level
if burst <= 0 then return minute end
if missing > 0 then
  if perMinute <= 0 then return minute end
  return math.ceil(missing / perMinute)
end
level = level - cost * minute
redis.call('HSET', KEYS[1], 'level', level, 'at', math.max(at, now))
if perMinute > 0 then
  redis.call('PEXPIRE', KEYS[1], math.ceil((burst * minute - level) / perMinute) + 1000)
else
  redis.call('PERSIST', KEYS[1])
end
return 0
`
