// Holds every slot of a key in Redis, renewing its leases, until it is killed. Prints how many it got.
import { redisCounters } from '../../../adapters/stores/redis-counters.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { redisLink } from '../redis.ts'

const [env, max, leaseMs] = process.argv.slice(2) as [string, string, string]
const counters = redisCounters({ link: await redisLink(env), clock: systemClock })
let held = 0
for (let i = 0; i < Number(max); i++) if ((await counters.acquire('account', Number(max), Number(leaseMs))).ok) held++
console.log(held)
setInterval(() => {}, 1000)
