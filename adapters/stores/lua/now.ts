// The time of a script: the server's own, so that replicas agree, or the caller's when it passes one.

export const NOW = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`
