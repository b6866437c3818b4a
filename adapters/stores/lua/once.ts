// Lua for a flag that expires. The value repeats the end, so that an injected clock applies as well as the key's expiry.
import { NOW } from './now.ts'

/** ARGV now, ttl ms → 1 = the caller is the first. */
export const ONCE = `${NOW}
local ttl = tonumber(ARGV[2])
local taken = tonumber(redis.call('GET', KEYS[1]))
if taken and taken > now then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f', now + ttl), 'PX', ttl)
return 1
`
