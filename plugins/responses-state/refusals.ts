// Refusals of this plugin. Unknown, expired, deleted and foreign ids look alike.
import { GatewayError } from '../../core/errors/gateway-error.ts'

export function unknownResponse(id: string): GatewayError {
  const message = `Previous response with id '${id}' not found.`
  return GatewayError.invalid('previous_response_id', message, 'previous_response_not_found')
}

export function unknownItem(id: string): GatewayError {
  return GatewayError.invalid('input', `Item with id '${id}' not found.`, 'previous_response_not_found')
}

export function noConversation(id: string): GatewayError {
  return new GatewayError(`Conversation with id '${id}' not found.`, {
    status: 404,
    type: 'invalid_request_error',
    param: 'conversation',
    code: 'conversation_not_found',
  })
}

/** 404 of the routes with an id. */
export function noResponse(id: string): GatewayError {
  return new GatewayError(`Response with id '${id}' not found.`, {
    status: 404,
    type: 'invalid_request_error',
    code: 'response_not_found',
  })
}

export function tooLarge(): GatewayError {
  return GatewayError.invalid(
    'conversation',
    'The conversation is larger than 20 MiB: delete items or begin a new one.',
    'conversation_too_large',
  )
}
