// Tools: one call, parallel calls with their results, results with an image.
import { ask, assistant, type Piece, user } from '../neutral.ts'
import { FETCHED } from '../represent.ts'
import type { Feature } from './feature.ts'

const TOOLS = ['weather', 'time'].map((name) => ({
  name: `get_${name}`,
  description: `The ${name} of a city.`,
  schema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Its name.' }, days: { type: 'integer' } },
    required: ['city'],
    additionalProperties: false,
  },
}))

const weather = (id: string, city: string): Piece => ({ t: 'call', id, name: 'get_weather', args: { city } })
const result = (id: string, ...pieces: Piece[]): Piece => ({ t: 'result', id, pieces })
const words = (text: string): Piece => ({ t: 'text', text })

export const tool: Feature = {
  id: 'tools',
  title: 'tools: one call and its result',
  async run(cell) {
    const question = user('What is the weather in Zürich?')
    await cell.exchange(ask({ turns: [question], tools: TOOLS }), {
      text: 'Let me look.',
      toolCalls: [{ id: 'call_Ab12Cd34', name: 'get_weather', args: '{"city":"Zürich","days":2}' }],
    })
    if (cell.refused) return
    const turns = [
      question,
      assistant('Let me look.', weather('call_Ab12Cd34', 'Zürich')),
      user(result('call_Ab12Cd34', words('Sunny, 21 °C'))),
    ]
    await cell.exchange(ask({ turns, tools: TOOLS }), { text: 'It is sunny in Zürich.' })
  },
}

export const parallel: Feature = {
  id: 'parallel',
  title: 'parallel tool calls and results',
  async run(cell) {
    const question = user('Weather in Rome and Oslo, and the time in Oslo?')
    await cell.exchange(ask({ turns: [question], tools: TOOLS }), {
      toolCalls: [
        { id: 'call_a', name: 'get_weather', args: '{"city":"Rome"}' },
        { id: 'call_b', name: 'get_weather', args: '{"city":"Oslo"}' },
        { id: 'call_c', name: 'get_time', args: '{"city":"Oslo"}' },
      ],
    })
    if (cell.refused) return
    const turns = [
      question,
      assistant(weather('call_a', 'Rome'), weather('call_b', 'Oslo'), {
        t: 'call',
        id: 'call_c',
        name: 'get_time',
        args: { city: 'Oslo' },
      }),
      user(result('call_a', words('warm')), result('call_b', words('cold')), result('call_c', words('12:30')), 'And in short?'),
    ]
    await cell.exchange(ask({ turns, tools: TOOLS }), { text: 'Rome is warm, Oslo cold.' })
  },
}

export const resultImages: Feature = {
  id: 'result_images',
  title: 'tool results with images',
  async run(cell) {
    const turns = [
      user('Show me both maps.'),
      assistant(weather('call_a', 'Rome'), weather('call_b', 'Oslo')),
      user(result('call_a', words('The map of Rome.'), FETCHED), result('call_b', words('The map of Oslo.'), FETCHED)),
    ]
    await cell.exchange(ask({ turns, tools: TOOLS }), { text: 'Both maps show rain.' })
  },
}
