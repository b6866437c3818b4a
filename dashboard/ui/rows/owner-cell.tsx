import { Tag } from '../status.tsx'

/** Who owns a row of a list: its place in gateway.config.ts, or the API. */
export function OwnerCell({ managedBy, section, name }: { managedBy: string; section: string; name: string | null }) {
  if (managedBy !== 'config') return <span>API</span>
  const place = name === null ? section : `${section}.${name}`
  return <Tag title={`gateway.config.ts → ${place}. Change it there.`}>{place}</Tag>
}
