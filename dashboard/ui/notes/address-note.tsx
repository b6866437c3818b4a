// A parameter of the address that the page does not understand: typed by hand, or of a thing that is gone.
import { query as address, setQuery } from '../../app/location.ts'
import { Button } from '../button.tsx'
import { Notice } from '../page.tsx'

/** Longer ones are a mistake, and would push the page away. */
const SHOWN = 60

/** @param shown what the page shows for the parameter; absent: nothing. The note stands only where the address asks for another value. */
export function AddressNote({ name, shown }: { name: string; shown?: string | number | null | undefined }) {
  const asked = address.value.get(name)
  if (asked === null || asked === String(shown ?? '')) return null
  return (
    <Notice tone="warning">
      The address asks for{' '}
      <code>
        {name}={asked.length > SHOWN ? `${asked.slice(0, SHOWN)}…` : asked}
      </code>
      , which is not here.{shown != null && ` Shown instead: ${shown}.`}{' '}
      <Button kind="plain" onClick={() => setQuery({ [name]: null })}>
        Remove it from the address
      </Button>
    </Notice>
  )
}
