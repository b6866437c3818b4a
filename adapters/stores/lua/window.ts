// Lua for the sliding window of core/counters/memory.ts, on a Redis hash {start, current, previous}.
import { NOW } from './now.ts'

const WINDOW = `${NOW}
local length = tonumber(ARGV[2])
local stored = redis.call('HMGET', KEYS[1], 'start', 'current', 'previous')
local start = tonumber(stored[1]) or now
local current, previous = tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
if now >= start + length then
  previous = now < start + 2 * length and current or 0
  start, current = start + length, 0
end
if previous == 0 and current == 0 then start = now end
local function book(amount)
  current = current + amount
  redis.call('HSET', KEYS[1], 'start', start, 'current', current, 'previous', previous)
  redis.call('PEXPIRE', KEYS[1], 2 * length)
end
`

/** ARGV now, length, cap, cost → ms to wait, 0 = granted. */
export const TAKE_WINDOW = `${WINDOW}
local cap, cost = tonumber(ARGV[3]), tonumber(ARGV[4])
if cap <= 0 then return length end
local elapsed = math.max(0, now - start)
local room = math.max(0, cap - math.max(cost, 1) + 1)
local used = previous * (length - 1 - elapsed) + current * length
if used < room * length or used == 0 then
  if cost > 0 then book(cost) end
  return 0
end
local function freeAt(held, left)
  return math.min(length - 1, math.max(0, math.floor(length - 1 - left * length / held) + 1))
end
if current < room or current == 0 then return freeAt(previous, room - current) - elapsed end
return length - elapsed + freeAt(current, room)
`

/** ARGV now, length → what the sliding window holds, rounded up. */
export const LOOK = `${WINDOW}
local elapsed = math.max(0, now - start)
return math.ceil((previous * (length - 1 - elapsed) + current * length) / length)
`

/** ARGV now, length, amount → the total of the current window, and ms to its end. */
export const DEBIT = `${WINDOW}
local amount = tonumber(ARGV[3])
if amount ~= 0 then book(amount) end
return { current, start + length - now }
`
