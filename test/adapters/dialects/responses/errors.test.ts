import { describe, expect, it } from 'vitest'
import { responsesReplies } from '../../../../adapters/testing/replies/responses.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { driver, openai, sdkResponse } from './support.ts'

const decoded = (status: number, body: unknown) =>
  driver.decodeError(status, headerBag([]), new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)))

describe('responses: errors', () => {
  it('callers get the envelope, param and code always present', () => {
    expect(JSON.parse(driver.encodeError(GatewayError.invalid('input', 'no'), 'req_1'))).toEqual({
      error: { message: 'no', type: 'invalid_request_error', param: 'input', code: null },
    })
  })

  it('reads the vendor’s body', () => {
    expect(decoded(429, responsesReplies.error(429, 'slow'))).toMatchObject({
      status: 429,
      message: 'slow',
      code: 'rate_limit_exceeded',
      upstream: { kind: 'status', status: 429, vendorCode: 'rate_limit_exceeded', field: null },
    })
  })

  it.each([
    [
      { error: { message: "Unsupported parameter: 'temperature' is not supported with this model.", param: 'temperature' } },
      'temperature',
    ],
    [
      {
        error: {
          message: "Unsupported value: 'reasoning.effort' does not support 'max' with this model",
          param: 'reasoning.effort',
        },
      },
      'reasoning.effort',
    ],
    [{ error: { message: "Unsupported parameter: 'top_p' is not supported with this model." } }, 'top_p'],
    [{ error: { message: 'temperature: Extra inputs are not permitted' } }, 'temperature'],
    [{ error: { message: '`temperature` is deprecated for this model.' } }, 'temperature'],
    [{ error: { message: 'Unrecognized request argument supplied: foo' } }, 'foo'],
    [{ error: { message: "Unknown parameter: 'foo'.", code: 'unknown_parameter', param: 'foo' } }, 'foo'],
    [{ error: { message: 'Encrypted content is not supported with this model.', param: 'include' } }, 'include'],
    [{ detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted' }] }, 'seed'],
    [{ error: { message: "Invalid value: 'x'.", param: 'input[0].role' } }, null],
  ])('names the unsupported field of %j', (body, field) => {
    expect(decoded(400, body).upstream?.field).toBe(field)
  })

  it('unwraps arrays, survives HTML and says one line', () => {
    expect(decoded(503, [{ error: { message: 'busy', code: 503 } }])).toMatchObject({ message: 'busy', code: '503' })
    expect(decoded(502, '<html>secret</html>').message).toBe('The upstream answered with status 502.')
    expect(decoded(400, { error: { message: `one\ntwo ${'x'.repeat(3000)}` } }).message).toBe('one')
    expect(decoded(400, { error: 'plain' }).message).toBe('plain')
    expect(decoded(422, { detail: 'nope' }).message).toBe('nope')
  })

  it('the scripted upstream is one the official SDK is happy with', async () => {
    const reply = {
      text: 'hello',
      reasoning: { text: 'hm', signature: 's' },
      toolCalls: [{ id: 'c', name: 'f', args: '{"a":1}' }],
    }
    const streamed = await sdkResponse(responsesReplies.frames(reply).join(''))
    expect(streamed.output_text).toBe('hello')
    const answer = await openai(JSON.stringify(responsesReplies.json(reply)), 'application/json').responses.create({
      model: 'm',
      input: 'x',
    })
    expect(answer.output).toEqual(
      streamed.output.map(({ parsed_arguments: _args, ...item }: Record<string, unknown>) =>
        item.type === 'message' ? answer.output[1] : item,
      ),
    )
    await expect(
      sdkResponse(`${responsesReplies.frames(reply)[0]}${responsesReplies.errorFrames('boom').join('')}`),
    ).rejects.toThrow('boom')
  })
})
