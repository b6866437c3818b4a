// Lua for slots as a sorted set: member = lease id, score = the ms at which it expires unless renewed.
import { NOW } from './now.ts'

const HOLD = `
local function hold(ms, id)
  redis.call('ZADD', KEYS[1], now + ms, id)
  if redis.call('PTTL', KEYS[1]) < ms then redis.call('PEXPIRE', KEYS[1], ms) end
end
`

/** ARGV now, lease ms, id, max → 1 = held. */
export const ACQUIRE = `${NOW}${HOLD}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
hold(tonumber(ARGV[2]), ARGV[3])
return 1
`

/** ARGV now, lease ms, id. Restores a lease that a flushed or failed-over server lost: its holder is still running. */
export const RENEW = `${NOW}${HOLD}
hold(tonumber(ARGV[2]), ARGV[3])
return 1
`
