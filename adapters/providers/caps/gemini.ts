// Capabilities of Google's models, by family and generation. A newer id inherits the newest behaviour of its family; an unknown family
// inherits none.
import type { ModelCaps } from '../../../core/types/request/dialect.ts'

const FAMILY = 'gemini'
const CONTEXT = 1_048_576

const COMMON: ModelCaps = {
  family: FAMILY,
  sampling: 'free',
  temperatureMax: 2,
  structuredOutputs: true,
  visionIn: true,
  pdfIn: true,
  audioIn: true,
  systemInstruction: true,
  stopSupported: true,
  midSystem: false,
  cacheBreakpoints: false,
  webSearch: true,
}

/** Features that Gemini 3 introduced are missing. */
const BEFORE_3: Partial<ModelCaps> = {
  thoughtSignature: false,
  functionCallIds: false,
  fnPartsInResults: false,
  jsonWithTools: false,
}

export function geminiCaps(model: string): ModelCaps {
  const id = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  if (id.startsWith('gemma')) return gemma()
  if (!id.startsWith('gemini')) return { family: FAMILY }
  const version = /^gemini-(\d+)(?:\.(\d+))?/.exec(id)
  // "gemini-flash-latest": no number means the newest generation.
  const generation = version === null ? Number.POSITIVE_INFINITY : Number(`${version[1]}.${version[2] ?? 0}`)
  if (generation >= 3) return gemini3(id)
  if (generation >= 2.5) return gemini25(id)
  return gemini2(generation)
}

function gemini3(id: string): ModelCaps {
  return {
    ...COMMON,
    context: CONTEXT + 65_536,
    maxOutput: 65_536,
    reasoning: true,
    thinkingControl: 'level',
    efforts: isPro(id) ? ['low', 'medium', 'high'] : ['minimal', 'low', 'medium', 'high'],
    thoughtSignature: true,
    functionCallIds: true,
    fnPartsInResults: true,
    jsonWithTools: true,
    jsonSchema: true,
  }
}

function gemini25(id: string): ModelCaps {
  const thinks = !/-(image|tts|live|native-audio)\b/.test(id)
  return {
    ...COMMON,
    ...BEFORE_3,
    context: CONTEXT + 65_536,
    maxOutput: 65_536,
    reasoning: thinks,
    thinkingControl: thinks ? 'budget' : 'none',
    // Pro cannot stop thinking and has the larger budget.
    ...(thinks
      ? {
          efforts: isPro(id)
            ? ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']
            : ['none', 'minimal', 'low', 'medium', 'high'],
        }
      : {}),
    jsonSchema: true,
  }
}

/** 2.0, 1.5 and the remaining 1.0 models. */
function gemini2(generation: number): ModelCaps {
  return {
    ...COMMON,
    ...BEFORE_3,
    context: CONTEXT + 8192,
    maxOutput: 8192,
    reasoning: false,
    thinkingControl: 'none',
    jsonSchema: false,
    webSearch: generation >= 2,
  }
}

/** Open models on the same API: no system instruction, no thinking, no server tools. */
function gemma(): ModelCaps {
  return {
    ...COMMON,
    ...BEFORE_3,
    context: 131_072,
    maxOutput: 8192,
    reasoning: false,
    thinkingControl: 'none',
    jsonSchema: false,
    systemInstruction: false,
    pdfIn: false,
    audioIn: false,
    webSearch: false,
  }
}

function isPro(id: string): boolean {
  return /-pro\b/.test(id)
}
