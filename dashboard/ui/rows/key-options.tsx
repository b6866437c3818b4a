import { useGet } from '../../api/query.ts'

/** Options of a select: no key, then each client key by its label. */
export function KeyOptions() {
  const keys = useGet('/api/keys')
  return (
    <>
      <option value="">none</option>
      {(keys.data?.data ?? []).map(({ id, label }) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </>
  )
}
