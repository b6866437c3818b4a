// Detects public IP addresses. Private, local and reserved ones do not identify a person.
import ipaddr from 'ipaddr.js'
import { type Finder, patternFinder, wholeMatch } from '../rule.ts'

const V4 = String.raw`(?<![\w.])(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}(?!\w|\.\d)`
/** Global unicast begins with 2 or 3 (RFC 4291). This alone excludes words of code such as `abc::def`. */
const V6 = String.raw`(?<![\w:.])[23][0-9a-f]{3}:[0-9a-f:]{2,34}(?![\w:])`

export function ipFinder(): Finder {
  return patternFinder('ip', 48, new RegExp(`${V4}|${V6}`, 'i'), (match) => {
    const [address] = match
    if (!ipaddr.isValid(address) || ipaddr.parse(address).range() !== 'unicast') return null
    return wholeMatch(match)
  })
}
