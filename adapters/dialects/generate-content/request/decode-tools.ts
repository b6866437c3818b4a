// Decodes tools[] and toolConfig. One wire entry may hold many declarations and server tools.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Json, JsonObject, Tool, ToolChoice } from '../../../../core/types/request/canonical.ts'
import { fieldsOf, listField, textField, textList } from '../fields.ts'
import { jsonSchemaOf } from './schema-in.ts'

/** Sets tools and web search on the request being built. */
export function decodeTools(value: Json | undefined, request: CanonicalRequest): void {
  for (const [index, entry] of listField(value).entries()) {
    const at = `tools.${index}`
    const { functionDeclarations, ...server } = fieldsOf(entry, at)
    for (const [place, wire] of listField(functionDeclarations).entries()) {
      request.tools.push(declaration(wire, `${at}.functionDeclarations.${place}`))
    }
    for (const [kind, config] of Object.entries(server)) {
      request.tools.push({ t: 'server', dialect: 'generate_content', kind, raw: { [kind]: config } })
      if (kind === 'googleSearch' || kind === 'googleSearchRetrieval') request.webSearch ??= webSearch(config)
    }
  }
}

/** Sets the choice; returns the fields of toolConfig that only Gemini has. */
export function decodeToolConfig(value: Json | undefined, request: CanonicalRequest): JsonObject {
  if (value === undefined) return {}
  const { functionCallingConfig, ...rest } = fieldsOf(value, 'toolConfig')
  if (functionCallingConfig === undefined) return rest
  const at = 'toolConfig.functionCallingConfig'
  const { mode, allowedFunctionNames, ...calling } = fieldsOf(functionCallingConfig, at)
  const word = textField(mode, `${at}.mode`)?.toUpperCase() ?? ''
  const choice = choiceOf(word, textList(allowedFunctionNames, `${at}.allowedFunctionNames`) ?? [])
  if (choice !== undefined) request.toolChoice = choice
  if (word === 'VALIDATED') calling.mode = word
  return Object.keys(calling).length === 0 ? rest : { ...rest, functionCallingConfig: calling }
}

function choiceOf(mode: string, names: string[]): ToolChoice | undefined {
  if (mode === 'NONE') return { mode: 'none' }
  if (mode === 'ANY') {
    if (names.length === 1) return { mode: 'tool', name: names[0] as string }
    return names.length === 0 ? { mode: 'required' } : { mode: 'allowed', base: 'required', names }
  }
  if (names.length > 0) return { mode: 'allowed', base: 'auto', names }
  return mode === 'AUTO' || mode === 'VALIDATED' ? { mode: 'auto' } : undefined
}

function declaration(wire: Json, at: string): Tool {
  const { name, description, parameters, parametersJsonSchema, ...rest } = fieldsOf(wire, at)
  const named = textField(name, `${at}.name`)
  if (named === undefined || named === '') throw GatewayError.invalid(`${at}.name`, 'A function declaration needs a name.')
  const described = textField(description, `${at}.description`)
  const schema = parametersJsonSchema ?? (parameters === undefined ? undefined : jsonSchemaOf(parameters))
  return {
    t: 'function',
    name: named,
    ...(described === undefined ? {} : { description: described }),
    ...(schema === undefined ? {} : { schema }),
    ...(Object.keys(rest).length === 0 ? {} : { ext: { generate_content: rest } }),
  }
}

function webSearch(config: Json): NonNullable<CanonicalRequest['webSearch']> {
  const excluded =
    typeof config === 'object' && config !== null
      ? textList(fieldsOf(config, 'tools').excludeDomains, 'excludeDomains')
      : undefined
  return excluded === undefined ? {} : { blockedDomains: excluded }
}
