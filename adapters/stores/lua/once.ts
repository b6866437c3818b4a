// A flag with an end; the value repeats the end, so that a caller's clock counts as much as the key's expiry.
import { NOW } from './now.ts'

/** ARGV now, ttl ms → 1 = the caller is the one. */
export const ONCE = `${NOW}
local ttl = tonumber(ARGV[2])
local taken = tonumber(redis.call('GET', KEYS[1]))
if taken and taken > now then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f', now + ttl), 'PX', ttl)
return 1
`
