// The JSON objects of a chat stream.
interface Chunk {
  choices: { delta?: { content?: string } }[]
}

export function rows(text: string): Chunk[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Chunk)
}
