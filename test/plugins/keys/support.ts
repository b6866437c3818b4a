// A gateway whose routes all answer, and keys for it.
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { wordCode } from '../../support/google-error.ts'

export interface Made {
  id: number
  key: string
  [member: string]: unknown
}

export function gatewayWithKeys(options: TestGatewayOptions = {}): Promise<TestGateway> {
  return createTestGateway(options)
}

export async function makeKey(t: Pick<TestGateway, 'post'>, body: Record<string, unknown> = {}): Promise<Made> {
  const response = await t.post('/api/keys', body)
  if (response.status !== 201) throw new Error(`POST /api/keys: ${response.status} ${await response.text()}`)
  return (await response.json()) as Made
}

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

export const ask = (model: string): object => ({ model, messages: [{ role: 'user', content: 'hi' }] })

export async function errorOf(
  response: Response,
): Promise<{ status: number; type: string; code: string | null; param: string | null; message: string }> {
  const { error } = (await response.json()) as {
    error: { type: string; code: string | null; param: string | null; message: string }
  }
  return { ...error, code: wordCode(error) as string | null, status: response.status }
}
