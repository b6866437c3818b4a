import { Time } from '../../ui/text.tsx'

/** The server writes points in time in UTC; the page shows them in the zone of the reader. */
export function Sentence({ text }: { text: string }) {
  return (
    <>{text.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/).map((part, index) => (index % 2 === 1 ? <Time key={part} at={part} /> : part))}</>
  )
}
